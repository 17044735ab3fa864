//! Lists of what stands beside AI agents.

use flowsdk_agent::part::AgentPartFilter;
use flowsdk_core::id::AgentId;
use utoipa::IntoParams;

use crate::api::query::{FromQuery, OfRouter, QueryReader};

/// Which of them.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
pub(in crate::api) struct AgentPartParams {
    /// Those of this AI agent; of routes, those that begin at it.
    agent_id: Option<AgentId>,
}

/// Those that are wanted.
#[derive(Debug)]
pub(in crate::api) struct OfAgent(pub(in crate::api) AgentPartFilter);

impl FromQuery for OfAgent {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        Self(AgentPartFilter { router_id, agent_id: query.id("agentId", AgentId::parse) })
    }
}
