//! What such records have in common.

use flowsdk_core::id::{AgentId, RouterId};
use flowsdk_core::record::{RecordFilter, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};

use super::AgentPartError;

/// A record that names AI agents of its router.
pub trait AgentPart: RouterRecord<Filter = AgentPartFilter, Error = AgentPartError> {
    /// Returns the agents that it names, each with the field on the wire.
    fn agents(&self) -> Vec<(AgentField, &AgentId)>;

    /// Checks what its schema cannot express, of a new record as of one that is changed.
    ///
    /// # Errors
    /// The reason why it is refused.
    fn check(&self) -> Result<(), AgentPartError> {
        Ok(())
    }
}

/// A field that names an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentField {
    /// The agent that a record is of.
    Agent,
    /// The agent at which a route begins.
    From,
    /// The agent to which a route leads.
    To,
}

impl AgentField {
    /// Returns its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agentId",
            Self::From => "fromAgentId",
            Self::To => "toAgentId",
        }
    }
}

/// Which records are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPartFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this agent; of routes, those that begin at it.
    pub agent_id: Option<AgentId>,
}

impl Reachable for AgentPartFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl RecordFilter for AgentPartFilter {
    fn router(&self) -> Option<&RouterId> {
        self.router_id.as_ref()
    }
}
