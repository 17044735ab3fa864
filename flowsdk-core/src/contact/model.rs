//! The contact and the fields that a turn may change.

use serde_json::{Map, Value, json};

use crate::change::{Change, Entity, EntityKind, Hidden, Recorded};
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

/// Most characters of a name.
pub const MAX_NAME: usize = 200;

/// The name of web chat contacts that nobody has named (spec B 4.2).
pub const UNNAMED_VISITOR: &str = "Flow Chat";

impl Contact {
    /// Returns the name as texts say it: empty for an anonymous visitor of the web chat, whose name is a placeholder
    /// (rulings S23).
    pub fn spoken_name(&self) -> &str {
        let placeholder = self.name == UNNAMED_VISITOR && !self.name_locked;
        if placeholder && self.origin == Some(Channel::Webchat) { "" } else { &self.name }
    }

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

    /// Names the contact, as [`clean_name`] keeps the name; no channel overwrites it from then on. Returns whether
    /// there is a name.
    pub fn rename(&mut self, name: &str) -> bool {
        let name = clean_name(name);
        let is_name = !name.is_empty();
        if is_name {
            (self.name, self.name_locked) = (name, true);
        }
        is_name
    }

    /// Takes over the name of the profile, up to [`MAX_NAME`], unless somebody has named the contact (rulings S23). Returns
    /// whether the name is another one now.
    pub fn follow_profile(&mut self, name: &str) -> bool {
        let name: String = clean_name(name).chars().take(MAX_NAME).collect();
        let is_new = !self.name_locked && !name.is_empty() && name != self.name;
        if is_new {
            self.name = name;
        }
        is_new
    }

    /// Makes the changes from `before` to `after` to this contact, which may have been changed since.
    pub fn change_as(&mut self, before: &Self, after: &Self) {
        if (&before.name, before.name_locked) != (&after.name, after.name_locked) {
            (self.name, self.name_locked) = (after.name.clone(), after.name_locked);
        }
        for (key, value) in &after.variables {
            if before.variables.get(key) != Some(value) {
                self.variables.insert(key.clone(), value.clone());
            }
        }
    }

    /// Returns the change from `before` to this. Of variables a log keeps the keys only.
    pub fn change_from(&self, before: &Self) -> Change {
        let hidden = Hidden::entries("contactVariables", &before.variables, &self.variables);
        Change::Updated { before: before.to_json(), after: self.to_json(), hidden }
    }

    /// Applies the changes of a turn.
    pub fn apply(&mut self, change: &ContactChange) {
        match change {
            ContactChange::Name(name) => {
                let _blank_names_change_nothing = self.rename(name);
            }
            ContactChange::Variable { key, value } => {
                self.variables.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Without its variables: what people told a flow is not for a log.
impl Recorded for Contact {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Contact, id: self.id.as_str(), router_id: None }
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "phoneNumber": self.phone_number, "name": self.name, "nameLocked": self.name_locked,
            "origin": self.origin, "createdAt": self.created_at.to_iso(),
        })
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

/// Returns a name as it is kept and shown: without blanks around it, and without characters by which a desk or a log
/// shows something else than there is. Control characters and breaks of lines become blanks; those that turn the
/// direction of text around are left out.
pub fn clean_name(name: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // U+2028 and U+2029 break lines and paragraphs, and are no control characters.
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let kept: String = name.chars().filter(|c| !turns(*c)).map(|c| if breaks(c) { ' ' } else { c }).collect();
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_name_is_ignored_and_a_set_name_is_locked() {
        let mut contact =
            Contact::create(&OpContext::system(), "1".into(), UNNAMED_VISITOR.into(), Channel::Webchat);
        contact.apply(&ContactChange::Name("  \t".into()));
        assert_eq!((contact.name.as_str(), contact.name_locked), ("Flow Chat", false));
        assert_eq!(contact.spoken_name(), "");
        let locked = Contact { name_locked: true, ..contact.clone() };
        assert_eq!(locked.spoken_name(), "Flow Chat", "somebody has named them so");
        let elsewhere = Contact { origin: Some(Channel::Phone), ..contact.clone() };
        assert_eq!(elsewhere.spoken_name(), "Flow Chat");
        assert!(
            contact.follow_profile("Bia\n")
                && !contact.follow_profile(" \t")
                && !contact.follow_profile("Bia")
        );
        assert_eq!((contact.name.as_str(), contact.name_locked), ("Bia", false));
        assert!(contact.follow_profile(&"é".repeat(MAX_NAME + 1)));
        assert_eq!(contact.name.chars().count(), MAX_NAME);
        contact.apply(&ContactChange::Name(" Ana ".into()));
        assert!(!contact.follow_profile("Bia"));
        assert_eq!((contact.name.as_str(), contact.name_locked), ("Ana", true));
    }

    #[test]
    fn changes_are_made_to_what_a_contact_is_by_then() {
        let mut now = Contact::create(&OpContext::system(), "1".into(), "Ana".into(), Channel::Phone);
        let before = now.clone();
        let set = |contact: &mut Contact, key: &str, value: i64| {
            contact.apply(&ContactChange::Variable { key: key.into(), value: value.into() });
        };
        set(&mut now, "plan", 1);
        now.rename("Ana Souza");
        let mut after = before.clone();
        set(&mut after, "size", 2);
        now.change_as(&before, &after);
        assert_eq!(
            (now.name.as_str(), &now.variables),
            ("Ana Souza", json!({ "plan": 1, "size": 2 }).as_object().expect("fields"))
        );
        after.rename("Bia");
        now.change_as(&before, &after);
        assert_eq!((now.name.as_str(), now.name_locked), ("Bia", true));
    }

    #[test]
    fn names_show_what_they_are() {
        for (name, kept) in [
            (" Ana  Souza ", "Ana  Souza"),
            ("a\u{202e}\r\nb\u{1b}[31m", "a  b [31m"),
            ("\u{2066}\u{202e}", ""),
            ("\t\n", ""),
            ("Ana\u{2028}admin\u{2029}", "Ana admin"),
            // Marks that right-to-left names need stay.
            ("\u{200f}דנה 👩‍🚀", "\u{200f}דנה 👩‍🚀"),
        ] {
            assert_eq!(clean_name(name), kept, "{name:?}");
        }
    }
}
