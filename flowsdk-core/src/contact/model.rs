//! The contact and the fields that a turn may change.

use serde_json::{Map, Value};

use crate::context::OpContext;
use crate::id::ContactId;
use crate::session::Channel;
use crate::time::Timestamp;

/// A person, shared by all routers; chats and tickets are per router.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// The id of the contact.
    pub id: ContactId,
    /// The unique identity (spec A 2.4): a number in E.164, `ig-<igsid>` or `wc-<channelId>-<userId>`.
    pub phone_number: String,
    /// The name to show; it identifies nobody.
    pub name: String,
    /// Whether the channel's profile name no longer overwrites the name.
    pub name_locked: bool,
    /// The channel it first wrote on.
    pub origin: Option<Channel>,
    /// Persistent variables, shared by all routers.
    pub variables: Map<String, Value>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Contact {
    /// Returns a contact that `origin` has just seen for the first time.
    pub fn create(cx: &OpContext, phone_number: String, name: String, origin: Channel) -> Self {
        Self {
            id: ContactId::generate(cx.ids()),
            phone_number,
            name,
            name_locked: false,
            origin: Some(origin),
            variables: Map::new(),
            created_at: cx.now(),
        }
    }

    /// Applies the changes of a turn.
    pub fn apply(&mut self, change: &ContactChange) {
        match change {
            ContactChange::Name(name) => {
                if !name.trim().is_empty() {
                    name.trim().clone_into(&mut self.name);
                    self.name_locked = true;
                }
            }
            ContactChange::Variable { key, value } => {
                self.variables.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A change that a flow makes to its contact (spec A 9, contact-name rule).
#[derive(Debug, Clone, PartialEq)]
pub enum ContactChange {
    /// `setContactName`: sets the name and locks it; an empty or blank value is ignored.
    Name(String),
    /// `setContactVariable`: merges one key.
    #[allow(missing_docs, reason = "the fields say it")]
    Variable { key: String, value: Value },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_name_is_ignored_and_a_set_name_is_locked() {
        let mut contact =
            Contact::create(&OpContext::system(), "1".into(), "Flow Chat".into(), Channel::Webchat);
        contact.apply(&ContactChange::Name("  \t".into()));
        assert_eq!((contact.name.as_str(), contact.name_locked), ("Flow Chat", false));
        contact.apply(&ContactChange::Name(" Ana ".into()));
        assert_eq!((contact.name.as_str(), contact.name_locked), ("Ana", true));
    }
}
