//! The group.

use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::page::{Cursor, Searched};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

use super::GroupView;
use crate::permission::Permissions;

/// The permissions of its users, and the routers whose records they may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Group {
    /// The id of the group.
    pub id: GroupId,
    pub name: String,
    /// The permissions of its users.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Searched for Group {
    fn search_text(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for Group {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Group, id: self.id.as_str(), router_id: None }
    }

    fn to_json(&self) -> Value {
        public_json(&GroupView::from(self))
    }
}

/// A new group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateGroup)]
pub struct NewGroup {
    /// The name of the group.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Support")]
    pub name: String,
    /// The permissions of its users.
    #[serde(default)]
    #[schema(value_type = Vec<crate::permission::Permission>, required = false, max_items = 100)]
    pub permissions: Permissions,
    /// The routers they are confined to; empty means no restriction.
    #[serde(default)]
    #[schema(required = false, max_items = 1000)]
    pub router_ids: Vec<RouterId>,
}

/// The changes to make to a group; an absent field stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchGroup)]
pub struct GroupChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Support")]
    pub name: Option<String>,
    /// The permissions of its users; replaces the whole list.
    #[schema(value_type = Vec<crate::permission::Permission>, required = false, max_items = 100)]
    pub permissions: Option<Permissions>,
    /// The routers they are confined to; replaces the whole list, and an empty one lifts the restriction.
    #[schema(value_type = Vec<RouterId>, required = false, max_items = 1000)]
    pub router_ids: Option<Vec<RouterId>>,
}

impl GroupChange {
    /// Returns the group after the change.
    pub(super) fn apply(self, mut group: Group, now: Timestamp) -> Group {
        group.name = self.name.unwrap_or(group.name);
        group.permissions = self.permissions.unwrap_or(group.permissions);
        group.router_ids = self.router_ids.unwrap_or(group.router_ids);
        group.updated_at = now;
        group
    }
}
