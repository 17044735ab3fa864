//! The route between two agents. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::id::{AgentId, Id, IdSource, RouterId};
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use crate::part::{AgentField, AgentPart, AgentPartError, AgentPartFilter};

/// Identifier of a route between agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct AgentRouteId(Arc<str>);

/// A route between two AI agents of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(
    kind = AiAgentRoute, error = AgentPartError, filter = AgentPartFilter, not_found = RouteNotFound,
    search = description,
    // Nothing but its pair of agents is unique.
    unique = RouteTaken
)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentRoute {
    /// The id of the route.
    pub id: AgentRouteId,
    /// The router of both agents. It never changes.
    pub router_id: RouterId,
    /// The agent that may hand its conversations on. It never changes.
    pub from_agent_id: AgentId,
    /// The agent to which they go. It never changes.
    pub to_agent_id: AgentId,
    /// When they are to go there; an empty text is the description of that agent.
    pub description: String,
    /// Whether they may go there.
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

impl AgentPart for AgentRoute {
    fn agents(&self) -> Vec<(AgentField, &AgentId)> {
        vec![(AgentField::From, &self.from_agent_id), (AgentField::To, &self.to_agent_id)]
    }
}

/// A new route.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateAiAgentRoute)]
pub struct NewAgentRoute {
    /// The router of both agents. It cannot be changed later.
    pub router_id: RouterId,
    /// The agent that may hand its conversations on. It cannot be changed later.
    pub from_agent_id: AgentId,
    /// The agent to which they go, another one. It cannot be changed later.
    pub to_agent_id: AgentId,
    /// When they are to go there; an empty text is the description of that agent.
    #[serde(default)]
    #[schema(required = false, max_length = 1_000)]
    pub description: String,
    /// Whether they may go there.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewAgentRoute {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewAgentRoute {
    type Record = AgentRoute;

    fn check(&self) -> Result<(), AgentPartError> {
        if self.from_agent_id == self.to_agent_id { Err(AgentPartError::RouteToItself) } else { Ok(()) }
    }

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> AgentRoute {
        AgentRoute {
            id: AgentRouteId::generate(ids),
            router_id: self.router_id,
            from_agent_id: self.from_agent_id,
            to_agent_id: self.to_agent_id,
            description: self.description,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a route; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchAiAgentRoute)]
pub struct AgentRouteChange {
    /// When they are to go there; an empty text is the description of that agent.
    #[schema(value_type = String, required = false, max_length = 1_000)]
    pub description: Option<String>,
    /// Whether they may go there.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for AgentRouteChange {
    type Record = AgentRoute;

    fn apply(self, route: AgentRoute) -> AgentRoute {
        AgentRoute {
            description: self.description.unwrap_or(route.description),
            is_active: self.is_active.unwrap_or(route.is_active),
            ..route
        }
    }
}
