//! What is on the phones.

use std::collections::VecDeque;
use std::time::Duration;

use flowsdk_core::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// How long after a message of the phone free content may be sent to it.
const WINDOW: Duration = Duration::from_hours(24);
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

/// What the webhook answered last to the delivery of a message that a phone wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Delivered {
    /// It took the whole delivery.
    Taken,
    /// It took the delivery and left something out, such as a number that it does not know. Its log says what.
    LeftOut,
    /// It refused the delivery, which comes again.
    Refused {
        /// The HTTP status of the refusal.
        status: u16,
    },
    /// Nobody answered. The delivery comes again.
    Unanswered,
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
    /// Of what the phone wrote: what became of it. `None` while its delivery is under way, and where there is no webhook.
    pub delivered: Option<Delivered>,
    /// The content, with its `type`.
    pub message: Value,
}

impl Bubble {
    /// Returns when the message says that it was written, or else when it came.
    fn written_at(&self) -> Timestamp {
        let seconds = self.message["timestamp"].as_str().and_then(|seconds| seconds.parse::<i64>().ok());
        seconds.map_or(self.at, |seconds| Timestamp::from_millis(seconds.saturating_mul(1_000)))
    }
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

    /// Returns whether the phone has not written for longer than free content may be sent after its last message. Nothing is
    /// known of a phone that has written nothing here.
    pub(super) fn is_quiet(&self, now: Timestamp) -> bool {
        let last = self.messages.iter().rfind(|bubble| bubble.from == Side::Phone);
        last.is_some_and(|bubble| bubble.written_at() + WINDOW <= now)
    }

    /// Notes what became of a message that the phone wrote.
    pub(super) fn note_delivery(&mut self, id: &str, how: Delivered) {
        let message = self.messages.iter_mut().rev().find(|bubble| bubble.id == id);
        if let Some(bubble) = message.filter(|bubble| bubble.delivered != Some(how)) {
            bubble.delivered = Some(how);
            self.version += 1;
        }
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
        Bubble {
            id: id.to_string(),
            from,
            at: Timestamp::from_millis(7),
            read: false,
            delivered: None,
            message,
        }
    }

    #[test]
    fn a_phone_is_quiet_a_day_after_what_it_wrote() {
        let (mut screen, day) = (Screen::default(), Duration::from_hours(24));
        let at = |millis| Timestamp::from_millis(millis);
        assert!(!screen.is_quiet(at(i64::MAX)), "nothing is known");
        screen.add(bubble(1, Side::Phone));
        screen.add(Bubble { at: at(9_000), ..bubble(2, Side::Business) });
        assert!(!screen.is_quiet(at(6) + day) && screen.is_quiet(at(7) + day));
        let message = json!({ "type": "text", "timestamp": "5" });
        screen.add(Bubble { message, ..bubble(3, Side::Phone) });
        assert!(!screen.is_quiet(at(4_999) + day) && screen.is_quiet(at(5_000) + day));
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
        for how in [Delivered::Unanswered, Delivered::Unanswered, Delivered::Taken] {
            screen.note_delivery("1", how);
        }
        screen.note_delivery("nothing", Delivered::Taken);
        assert_eq!((screen.messages[0].delivered, screen.version), (Some(Delivered::Taken), 6));
        for id in 3..KEPT + 3 {
            screen.add(bubble(id, Side::Business));
        }
        assert_eq!((screen.messages.len(), &*screen.messages[0].id), (KEPT, "3"));
    }
}
