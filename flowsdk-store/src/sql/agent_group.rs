//! Groups of agents.

use flowsdk_helpdesk::agent_group::AgentGroup;

use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    AgentGroup in "agent_group" {
        id, router_id, created_at;
        name, can_active_dispatch, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<AgentGroup>(&[]);

super::statement::statements! { ; TABLE }

impl RouterTable for AgentGroup {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}
