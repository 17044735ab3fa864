//! The mapping. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::cell::TextType;
use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::Channel;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::ChannelTypeMappingError;

/// Identifier of a channel type mapping.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ChannelTypeMappingId(Arc<str>);

/// Most characters of an outside system's name.
const MAX_EXTERNAL_TYPE: usize = 128;

/// A text that is not an outside system's name for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an outside name: it is blank, or longer than {MAX_EXTERNAL_TYPE} characters")]
pub struct InvalidExternalType;

fn is_external_type(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_EXTERNAL_TYPE
}

/// An outside system's name for a channel: not blank, of at most 128 characters.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_external_type,
    error = InvalidExternalType,
    schema = "ExternalTypeText",
    pattern = r"\S",
    min_length = 1,
    max_length = MAX_EXTERNAL_TYPE,
    example = "WHATSAPP_BUSINESS"
)]
pub struct ExternalType(String);

/// The names of a channel in a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = ChannelTypeMapping, error = ChannelTypeMappingError, search(label, external_type), unique = Taken
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ChannelTypeMapping {
    /// The id of the mapping.
    pub id: ChannelTypeMappingId,
    /// The router whose channels it names. It never changes.
    pub router_id: RouterId,
    /// The channel that it names; a router has one mapping of each. It never changes.
    pub channel_type: Channel,
    /// The name that people see.
    #[schema(example = "WhatsApp")]
    pub label: String,
    /// The name that an outside system uses.
    pub external_type: ExternalType,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new mapping. Router and channel cannot be changed later.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateChannelTypeMapping)]
pub struct NewChannelTypeMapping {
    /// The router whose channels it names.
    pub router_id: RouterId,
    /// The channel that it names; a router has one mapping of each.
    pub channel_type: Channel,
    /// The name that people see.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "WhatsApp")]
    pub label: Name,
    /// The name that an outside system uses.
    pub external_type: ExternalType,
}

impl Reachable for NewChannelTypeMapping {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewChannelTypeMapping {
    type Record = ChannelTypeMapping;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> ChannelTypeMapping {
        ChannelTypeMapping {
            id: ChannelTypeMappingId::generate(ids),
            router_id: self.router_id,
            channel_type: self.channel_type,
            label: self.label.into(),
            external_type: self.external_type,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a mapping; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchChannelTypeMapping)]
pub struct ChannelTypeMappingChange {
    /// The name that people see.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub label: Option<Name>,
    /// The name that an outside system uses.
    #[schema(value_type = ExternalType, required = false)]
    pub external_type: Option<ExternalType>,
}

impl RecordChange for ChannelTypeMappingChange {
    type Record = ChannelTypeMapping;

    fn apply(self, mapping: ChannelTypeMapping) -> ChannelTypeMapping {
        ChannelTypeMapping {
            label: self.label.map_or(mapping.label, String::from),
            external_type: self.external_type.unwrap_or(mapping.external_type),
            ..mapping
        }
    }
}
