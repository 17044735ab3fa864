//! The group. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::AgentGroupError;

/// Identifier of a group of agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct AgentGroupId(Arc<str>);

/// A group of agents of a router, who may what it may (`AgentGroup`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = AgentGroup, error = AgentGroupError, search = name, unique = NameTaken)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentGroup {
    /// The id of the group.
    pub id: AgentGroupId,
    /// The router of its agents. It never changes.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(example = "Sales")]
    pub name: String,
    /// Whether its agents may write to contacts first.
    pub can_active_dispatch: bool,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new group.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateAgentGroup)]
pub struct NewAgentGroup {
    /// The router of its agents. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name; unique in its router.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Sales")]
    pub name: Name,
    /// Whether its agents may write to contacts first.
    #[serde(default)]
    #[schema(required = false)]
    pub can_active_dispatch: bool,
}

impl Reachable for NewAgentGroup {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewAgentGroup {
    type Record = AgentGroup;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> AgentGroup {
        AgentGroup {
            id: AgentGroupId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            can_active_dispatch: self.can_active_dispatch,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a group; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchAgentGroup)]
pub struct AgentGroupChange {
    /// Its name; unique in its router.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// Whether its agents may write to contacts first.
    #[schema(value_type = bool, required = false)]
    pub can_active_dispatch: Option<bool>,
}

impl RecordChange for AgentGroupChange {
    type Record = AgentGroup;

    fn apply(self, group: AgentGroup) -> AgentGroup {
        AgentGroup {
            name: self.name.map_or(group.name, String::from),
            can_active_dispatch: self.can_active_dispatch.unwrap_or(group.can_active_dispatch),
            ..group
        }
    }
}
