//! The tag. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::TagError;

/// Identifier of a tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct TagId(Arc<str>);

/// A tag of the tickets of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = Tag, error = TagError, search = name, unique = NameTaken)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tag {
    /// The id of the tag.
    pub id: TagId,
    /// The router whose tickets may have it. It never changes.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(example = "Refund")]
    pub name: String,
    /// The colour in which desks show it, as `#rrggbb`; null leaves it to them.
    #[schema(required = true, example = "#d0342c")]
    pub color: Option<String>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new tag.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateTag)]
pub struct NewTag {
    /// The router whose tickets may have it. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Refund")]
    pub name: Name,
    /// The colour in which desks show it.
    #[schema(pattern = r"^#[0-9a-fA-F]{6}$", example = "#d0342c")]
    pub color: Option<String>,
}

impl Reachable for NewTag {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewTag {
    type Record = Tag;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Tag {
        Tag {
            id: TagId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            color: self.color,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a tag; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchTag)]
pub struct TagChange {
    /// Its name; unique in its router.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// The colour in which desks show it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, pattern = r"^#[0-9a-fA-F]{6}$")]
    pub color: Option<Option<String>>,
}

impl RecordChange for TagChange {
    type Record = Tag;

    fn apply(self, tag: Tag) -> Tag {
        Tag { name: self.name.map_or(tag.name, String::from), color: self.color.unwrap_or(tag.color), ..tag }
    }
}
