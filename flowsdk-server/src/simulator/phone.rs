//! What is on the phones.

use std::collections::VecDeque;

use flowsdk_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// Most messages that a phone keeps.
const KEPT: usize = 500;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The phone.
    Phone,
    /// The business.
    Business,
}

/// A message on a phone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bubble {
    /// The provider's id of the message.
    pub id: String,
    /// Who wrote it.
    pub from: Side,
    /// When, in milliseconds.
    #[serde(serialize_with = "millis")]
    pub at: Timestamp,
    /// Whether the other side has read it.
    pub read: bool,
    /// The content, with its `type`.
    pub message: Value,
}

fn millis<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(at.as_millis())
}

/// The chat of a phone with a number.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Screen {
    /// It grows with each change.
    pub version: u64,
    /// Whether the business types.
    pub typing: bool,
    /// The newest messages, in order.
    pub messages: VecDeque<Bubble>,
}

impl Screen {
    pub(super) fn add(&mut self, bubble: Bubble) {
        self.typing &= bubble.from == Side::Phone;
        self.messages.push_back(bubble);
        if self.messages.len() > KEPT {
            self.messages.pop_front();
        }
        self.version += 1;
    }

    /// Notes that the business has read what the phone wrote, up to this message, and perhaps types.
    pub(super) fn read_by_business(&mut self, id: &str, types: bool) -> bool {
        let Some(last) = self.messages.iter().position(|bubble| bubble.id == id) else { return false };
        for bubble in self.messages.iter_mut().take(last + 1).filter(|bubble| bubble.from == Side::Phone) {
            bubble.read = true;
        }
        self.typing |= types;
        self.version += 1;
        true
    }

    /// Notes that the phone shows what the business wrote; returns the ids of what it had not shown before.
    pub(super) fn read_by_phone(&mut self) -> Vec<String> {
        let unread = self.messages.iter_mut().filter(|bubble| bubble.from == Side::Business && !bubble.read);
        let shown: Vec<String> = unread
            .map(|bubble| {
                bubble.read = true;
                bubble.id.clone()
            })
            .collect();
        self.version += u64::from(!shown.is_empty());
        shown
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bubble(id: usize, from: Side) -> Bubble {
        let message = json!({ "type": "text" });
        Bubble { id: id.to_string(), from, at: Timestamp::from_millis(7), read: false, message }
    }

    #[test]
    fn a_phone_shows_what_is_new_once_and_keeps_the_newest() {
        let mut screen = Screen::default();
        screen.add(bubble(1, Side::Phone));
        assert!(screen.read_by_business("1", true) && screen.typing);
        assert!(!screen.read_by_business("nothing", true));
        screen.add(bubble(2, Side::Business));
        assert!(!screen.typing, "a message ends it");
        assert_eq!((screen.read_by_phone(), screen.version), (vec!["2".to_owned()], 4));
        assert_eq!((screen.read_by_phone(), screen.version), (vec![], 4));
        assert!(screen.messages.iter().all(|bubble| bubble.read));
        for id in 3..KEPT + 3 {
            screen.add(bubble(id, Side::Business));
        }
        assert_eq!((screen.messages.len(), &*screen.messages[0].id), (KEPT, "3"));
    }
}
