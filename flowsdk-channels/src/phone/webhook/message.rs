//! Messages of contacts.

use flowsdk_core::contact::is_user_id;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::loose::{Fields, object, objects, seconds, text};
use super::shape;

/// A message of a contact.
#[derive(Debug, Clone, PartialEq)]
pub struct PhoneMessage {
    /// Who wrote it.
    pub sender: Sender,
    /// When it was sent, as the provider says.
    pub at: Option<Timestamp>,
    /// The message. Its content is what the provider sent; a type that this version does not know is kept whole.
    pub message: IncomingMessage,
}

/// The identities of a contact. The provider may leave out the number of a user who has a name, and may write a number
/// differently from how it was dialled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sender {
    /// The digits of the number.
    pub number: Option<String>,
    /// The id of the user for this business (`CC.…`).
    pub user_id: Option<String>,
    /// The number as the provider keeps it, where it is another one.
    pub wa_id: Option<String>,
    /// The name of the profile.
    pub name: Option<String>,
}

impl Sender {
    /// The identity that its session has: the number, else the id of the user.
    pub fn identity(&self) -> Option<&str> {
        self.number.as_deref().or(self.user_id.as_deref())
    }

    fn of(message: &Fields, contacts: &[ContactEntry]) -> Self {
        let (number, user_id) = (text(message, "from"), text(message, "from_user_id"));
        let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let own = contacts
            .iter()
            .find(|contact| same(&number, &contact.wa_id) || same(&user_id, &contact.user_id))
            // The number of the only contact may be written differently there.
            .or(if let [only] = contacts { Some(only) } else { None });
        let ContactEntry { wa_id, user_id: known_as, profile } = own.cloned().unwrap_or_default();
        Self {
            number: number.or_else(|| wa_id.clone()),
            user_id: user_id.or(known_as),
            name: profile.and_then(|profile| profile.name),
            wa_id,
        }
    }
}

/// An entry of `contacts`.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
pub(super) struct ContactEntry {
    #[serde(deserialize_with = "shape::text")]
    wa_id: Option<String>,
    #[serde(deserialize_with = "shape::text")]
    user_id: Option<String>,
    #[serde(deserialize_with = "shape::object")]
    profile: Option<Profile>,
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default)]
struct Profile {
    #[serde(deserialize_with = "shape::text")]
    name: Option<String>,
}

/// A contact has another number or another user id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberChange {
    /// The identity that it had, where the provider says it.
    pub from: Option<String>,
    /// The number that it has now.
    pub number: Option<String>,
    /// The user id that it has now.
    pub user_id: Option<String>,
    /// When, as the provider says.
    pub at: Option<Timestamp>,
}

/// What an entry of `messages` is.
pub(super) enum Read {
    Message(Box<PhoneMessage>),
    Change(NumberChange),
    /// Nothing that a conversation has: it names no sender or no id, or says itself that it is to be ignored. Its fields.
    Nothing(Fields),
}

/// Reads an entry of `messages` beside these `contacts`.
pub(super) fn read(fields: Fields, contacts: &[ContactEntry]) -> Read {
    match fields.get("type").and_then(Value::as_str) {
        Some("system") => return system(&fields).map_or(Read::Nothing(fields), Read::Change),
        Some("request_welcome" | "ephemeral") => return Read::Nothing(fields),
        _ => {}
    }
    let (sender, at) = (Sender::of(&fields, contacts), seconds(&fields, "timestamp"));
    match text(&fields, "id").filter(|_| sender.identity().is_some()) {
        Some(id) => Read::Message(Box::new(PhoneMessage { sender, at, message: message(id, fields) })),
        None => Read::Nothing(fields),
    }
}

fn message(id: String, mut fields: Fields) -> IncomingMessage {
    // Names of this product, and the fields that are told elsewhere.
    const TAKEN: [&str; 8] = [
        "id",
        "internalId",
        "clientMessageId",
        "sentAt",
        "from",
        "from_user_id",
        "from_parent_user_id",
        "timestamp",
    ];
    fields.retain(|name, _| !TAKEN.contains(&name.as_str()));
    // The name of recordings in old deliveries.
    if fields.get("type").and_then(Value::as_str) == Some("voice")
        && let Some(voice) = fields.remove("voice")
    {
        fields.insert("audio".to_owned(), voice);
        fields.insert("type".to_owned(), "audio".into());
    }
    if !fields.contains_key("type") {
        fields.insert("type".to_owned(), "unsupported".into());
    }
    IncomingMessage::of(id, fields)
}

fn system(fields: &Fields) -> Option<NumberChange> {
    let system = object(fields, "system")?;
    let number = text(system, "new_wa_id").or_else(|| text(system, "wa_id"));
    let change = match text(system, "type").as_deref() {
        // Also without a type, as old deliveries are.
        Some("user_changed_number" | "customer_changed_number") | None => NumberChange {
            from: text(fields, "from"),
            number: Some(number?),
            user_id: text(system, "user_id"),
            at: seconds(fields, "timestamp"),
        },
        Some("user_changed_user_id") => NumberChange {
            from: text(fields, "from")
                .or_else(|| text(fields, "from_user_id"))
                .or_else(|| told_before(system)),
            number: None,
            user_id: Some(text(system, "user_id")?),
            at: seconds(fields, "timestamp"),
        },
        Some(_) => return None,
    };
    Some(change)
}

/// Returns the user id before the present one, which nothing but the words for people says: `User Ana changed from BR.1 to
/// BR.2`. Only their end is looked at: people can call themselves as they like.
fn told_before(system: &Fields) -> Option<String> {
    let (words, now) = (text(system, "body")?, text(system, "user_id")?);
    let (_, before) = words.trim_end().strip_suffix(&format!(" to {now}"))?.rsplit_once(" changed from ")?;
    is_user_id(before).then(|| before.to_owned())
}

/// The field of changes that tell of other user ids (WhatsApp Business Platform, "Business-scoped user IDs").
pub(super) const USER_IDS: &str = "user_id_update";

/// Reads the changes of user ids. A contact may be known by their number or by their former id, so each is told by both.
pub(super) fn user_ids(value: &Fields) -> Vec<NumberChange> {
    let mut changes = Vec::new();
    for fields in objects(value, USER_IDS) {
        let Some(ids) = object(fields, "user_id") else { continue };
        let Some(current) = text(ids, "current") else { continue };
        let known_as = [text(fields, "wa_id"), text(ids, "previous")];
        changes.extend(known_as.into_iter().flatten().map(|from| NumberChange {
            from: Some(from),
            number: None,
            user_id: Some(current.clone()),
            at: seconds(fields, "timestamp"),
        }));
    }
    changes
}
