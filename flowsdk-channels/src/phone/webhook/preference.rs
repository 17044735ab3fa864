//! What contacts want of businesses (WhatsApp Cloud API, "user_preferences webhook").

use flowsdk_core::contact::OptInStatus;
use flowsdk_core::time::Timestamp;

use super::loose::{Fields, objects, seconds, text};

/// A contact has stopped, or resumed, what the business sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preference {
    /// The number or user id of the contact.
    pub from: String,
    /// `revoked` where they stopped it.
    pub status: OptInStatus,
    /// When, as the provider says.
    pub at: Option<Timestamp>,
}

impl Preference {
    /// The field of the changes that tell them.
    pub(super) const FIELD: &str = "user_preferences";

    /// Reads the value of a change.
    pub(super) fn read_all(value: &Fields) -> Vec<Self> {
        objects(value, Self::FIELD).filter_map(Self::read).collect()
    }

    /// Reads a preference; `None` of one that is about something else, or that names nobody.
    fn read(fields: &Fields) -> Option<Self> {
        let status = match text(fields, "value")?.as_str() {
            "stop" => OptInStatus::Revoked,
            "resume" => OptInStatus::Accepted,
            _ => return None,
        };
        if text(fields, "category").is_some_and(|category| category != "marketing_messages") {
            return None;
        }
        let from = text(fields, "wa_id").or_else(|| text(fields, "user_id"))?;
        Some(Self { from, status, at: seconds(fields, "timestamp") })
    }
}
