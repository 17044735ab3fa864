//! Routes between AI agents.

use flowsdk_agent::part::AgentPartFilter;
use flowsdk_agent::route::AgentRoute;

use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    AgentRoute in "ai_agent_route" {
        id, router_id, from_agent_id, to_agent_id, created_at;
        description, is_active, updated_at
    }
}

pub(super) static TABLE: RecordSql<AgentPartFilter> =
    RecordSql::of::<AgentRoute>(&[Filter::of("from_agent_id = {}", |filter| asked(&filter.agent_id))]);

super::statement::statements! { ; TABLE }

impl RouterTable for AgentRoute {
    fn sql() -> &'static RecordSql<AgentPartFilter> {
        &TABLE
    }
}
