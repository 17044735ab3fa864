//! The close reason. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::cell::TextType;
use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::record::{NewRecord, RecordChange, RecordFilter, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::CloseReasonError;

/// Identifier of a close reason.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct CloseReasonId(Arc<str>);

/// Most characters of a key.
const MAX_KEY: usize = 64;

/// A text that is not the key of a close reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must match ^[a-z0-9_.-]+$, with at most {MAX_KEY} characters")]
pub struct InvalidCloseReasonKey;

fn is_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
    (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(fits)
}

/// The key of a close reason: small letters, digits, `_`, `.` and `-` of ASCII, at most 64 of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    rule = is_key,
    error = InvalidCloseReasonKey,
    schema = "CloseReasonKeyText",
    pattern = "^[a-z0-9_.-]+$",
    min_length = 1,
    max_length = MAX_KEY,
    example = "refunded"
)]
pub struct CloseReasonKey(String);

/// A reason for which people close tickets of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = CloseReason, error = CloseReasonError, filter = CloseReasonFilter, search(label, key),
    unique = KeyTaken
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CloseReason {
    /// The id of the close reason.
    pub id: CloseReasonId,
    /// The router whose tickets are closed with it. It never changes.
    pub router_id: RouterId,
    /// What tickets keep as `closeReason` and flows read as `ticket.exit.key`; unique in its router. It never changes.
    pub key: CloseReasonKey,
    /// The name that agents choose it by.
    #[schema(example = "Refunded")]
    pub label: String,
    /// Whether tickets may be closed with it.
    pub is_active: bool,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// Which close reasons are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloseReasonFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those that are active, or those that are not.
    pub is_active: Option<bool>,
}

impl Reachable for CloseReasonFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl RecordFilter for CloseReasonFilter {
    fn router(&self) -> Option<&RouterId> {
        self.router_id.as_ref()
    }
}

/// A new close reason.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateCloseReason)]
pub struct NewCloseReason {
    /// The router whose tickets are closed with it. It cannot be changed later.
    pub router_id: RouterId,
    /// What tickets keep as `closeReason` and flows read as `ticket.exit.key`; unique in its router. It cannot be changed
    /// later.
    pub key: CloseReasonKey,
    /// The name that agents choose it by.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Refunded")]
    pub label: Name,
    /// Whether tickets may be closed with it.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewCloseReason {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewCloseReason {
    type Record = CloseReason;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> CloseReason {
        CloseReason {
            id: CloseReasonId::generate(ids),
            router_id: self.router_id,
            key: self.key,
            label: self.label.into(),
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a close reason; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchCloseReason)]
pub struct CloseReasonChange {
    /// The name that agents choose it by.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub label: Option<Name>,
    /// Whether tickets may be closed with it.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for CloseReasonChange {
    type Record = CloseReason;

    fn apply(self, reason: CloseReason) -> CloseReason {
        CloseReason {
            label: self.label.map_or(reason.label, String::from),
            is_active: self.is_active.unwrap_or(reason.is_active),
            ..reason
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_small_letters_digits_and_three_signs() {
        let longest = "k".repeat(MAX_KEY);
        for good in ["a", "0", "refunded", "not_solved", "v1.2-b", "-", &longest] {
            assert_eq!(CloseReasonKey::parse(good).as_ref().map(CloseReasonKey::as_str), Ok(good));
        }
        let long = format!("{longest}k");
        for bad in ["", " ", "Refunded", "a b", "a\n", "ação", "{{a}}", "a/b", "a:b", &long] {
            assert_eq!(CloseReasonKey::parse(bad), Err(InvalidCloseReasonKey), "{bad:?}");
        }
    }
}
