//! The agent.

use std::sync::Arc;

use flowsdk_core::id::{Id, IdSource, RouterId, UserId};
#[cfg(feature = "schema")]
use flowsdk_core::login_schedule::LoginRange;
use flowsdk_core::login_schedule::LoginSchedule;
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::{AgentError, Person, PresenceStatus};
use crate::agent_group::AgentGroupId;

/// Identifier of an agent of the helpdesk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct DeskAgentId(Arc<str>);

/// A user who works the tickets of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord)]
#[router_record(
    kind = Agent, error = AgentError, search = user_id, unique = Taken,
    // Its router was looked for before, so an orphan has no user.
    orphan = UserUnknown
)]
#[serde(rename_all = "camelCase")]
pub struct DeskAgent {
    /// The id of the agent.
    pub id: DeskAgentId,
    /// The router whose tickets they work. It never changes.
    pub router_id: RouterId,
    /// The user that they are. It never changes.
    pub user_id: UserId,
    /// The group that they belong to.
    pub group_id: Option<AgentGroupId>,
    /// Whether they may write to contacts first, whatever their group may.
    pub can_active_dispatch: bool,
    /// The hours in which they may log in to the desk (rulings A8).
    pub login_schedule: LoginSchedule,
    /// When they became one.
    #[serde(serialize_with = "as_iso")]
    pub created_at: Timestamp,
    /// When they were last changed.
    #[serde(serialize_with = "as_iso")]
    pub updated_at: Timestamp,
}

/// A new agent.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateAgent)]
pub struct NewDeskAgent {
    /// The router whose tickets they work. It cannot be changed later.
    pub router_id: RouterId,
    /// The user that they are. It cannot be changed later.
    pub user_id: UserId,
    /// The group that they belong to: one of the router.
    pub group_id: Option<AgentGroupId>,
    /// Whether they may write to contacts first, whatever their group may.
    #[serde(default)]
    #[schema(required = false)]
    pub can_active_dispatch: bool,
    /// The hours in which they may log in to the desk, in the time zone of the router; none is always.
    #[serde(default)]
    #[schema(value_type = Vec<LoginRange>, required = false, max_items = 50)]
    pub login_schedule: LoginSchedule,
}

impl Reachable for NewDeskAgent {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewDeskAgent {
    type Record = DeskAgent;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> DeskAgent {
        DeskAgent {
            id: DeskAgentId::generate(ids),
            router_id: self.router_id,
            user_id: self.user_id,
            group_id: self.group_id,
            can_active_dispatch: self.can_active_dispatch,
            login_schedule: self.login_schedule,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to an agent; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchAgent)]
pub struct DeskAgentChange {
    /// The group that they belong to: one of the router.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<AgentGroupId>)]
    pub group_id: Option<Option<AgentGroupId>>,
    /// Whether they may write to contacts first, whatever their group may.
    #[schema(value_type = bool, required = false)]
    pub can_active_dispatch: Option<bool>,
    /// All hours in which they may log in to the desk; none is always.
    #[schema(value_type = Vec<LoginRange>, required = false, max_items = 50)]
    pub login_schedule: Option<LoginSchedule>,
}

impl RecordChange for DeskAgentChange {
    type Record = DeskAgent;

    fn apply(self, agent: DeskAgent) -> DeskAgent {
        DeskAgent {
            group_id: self.group_id.unwrap_or(agent.group_id),
            can_active_dispatch: self.can_active_dispatch.unwrap_or(agent.can_active_dispatch),
            login_schedule: self.login_schedule.unwrap_or(agent.login_schedule),
            ..agent
        }
    }
}

/// An agent, with their name and presence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Agent)]
pub struct DeskAgentView {
    /// The id of the agent.
    pub id: DeskAgentId,
    /// The router whose tickets they work.
    pub router_id: RouterId,
    /// The user that they are.
    pub user_id: UserId,
    /// The name of the user.
    #[schema(example = "Ana")]
    pub name: String,
    /// The group that they belong to.
    #[schema(required = true)]
    pub group_id: Option<AgentGroupId>,
    /// Whether they may write to contacts first, whatever their group may.
    pub can_active_dispatch: bool,
    /// The hours in which they may log in to the desk, in the time zone of the router; none is always.
    #[schema(value_type = Vec<LoginRange>)]
    pub login_schedule: LoginSchedule,
    /// Whether they are there now.
    pub presence: PresenceStatus,
    /// When they became one.
    pub created_at: IsoTime,
    /// When they were last changed.
    pub updated_at: IsoTime,
}

impl DeskAgentView {
    /// Returns an agent with what is known of their user.
    pub fn new(agent: DeskAgent, person: Option<&Person>) -> Self {
        Self {
            name: person.map(|person| person.name.clone()).unwrap_or_default(),
            presence: person.map_or(PresenceStatus::Offline, |person| person.presence),
            id: agent.id,
            router_id: agent.router_id,
            user_id: agent.user_id,
            group_id: agent.group_id,
            can_active_dispatch: agent.can_active_dispatch,
            login_schedule: agent.login_schedule,
            created_at: IsoTime(agent.created_at),
            updated_at: IsoTime(agent.updated_at),
        }
    }
}
