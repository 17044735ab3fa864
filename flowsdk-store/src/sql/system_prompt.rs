//! System prompts of AI agents.

use flowsdk_agent::part::AgentPartFilter;
use flowsdk_agent::prompt::SystemPrompt;

use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    SystemPrompt in "system_prompt" {
        id, router_id, agent_id, created_at;
        name, text, order = place, is_active, updated_at
    }
}

pub(super) static TABLE: RecordSql<AgentPartFilter> =
    RecordSql::of::<SystemPrompt>(&[Filter::of("agent_id = {}", |filter| asked(&filter.agent_id))]);

super::statement::statements! { ; TABLE }

impl RouterTable for SystemPrompt {
    fn sql() -> &'static RecordSql<AgentPartFilter> {
        &TABLE
    }
}
