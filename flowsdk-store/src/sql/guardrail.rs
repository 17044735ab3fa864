//! Guardrails of AI agents.

use flowsdk_agent::guardrail::Guardrail;
use flowsdk_agent::part::AgentPartFilter;

use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    Guardrail in "guardrail" {
        id, router_id, agent_id, created_at;
        text, rules: json_or_null, is_active, updated_at
    }
}

pub(super) static TABLE: RecordSql<AgentPartFilter> =
    RecordSql::of::<Guardrail>(&[Filter::of("agent_id = {}", |filter| asked(&filter.agent_id))]);

super::statement::statements! { ; TABLE }

impl RouterTable for Guardrail {
    fn sql() -> &'static RecordSql<AgentPartFilter> {
        &TABLE
    }
}
