//! AI agents.

use flowsdk_agent::agent::{AiAgent, AiAgentFilter};

use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    AiAgent in "ai_agent" {
        id, router_id, created_at;
        agent_type, task, name, description, model, llm_credential_id, fallback_model, fallback_llm_credential_id,
        enabled_internal_tools: json, native_tool_descriptions: json, contact_variable_keys: json_or_null, rag_tags: json,
        has_vision, max_output_tokens, is_active, updated_at
    }
}

/// A router has a few dozen agents at most, so those that are not wanted are passed over, newest first.
pub(super) static TABLE: RecordSql<AiAgentFilter> = RecordSql::of::<AiAgent>(&[
    Filter::of("agent_type = {}", |filter| asked(&filter.agent_type)),
    Filter::of("is_active = {}", |filter| asked(&filter.is_active)),
]);

super::statement::statements! { ; TABLE }

impl RouterTable for AiAgent {
    fn sql() -> &'static RecordSql<AiAgentFilter> {
        &TABLE
    }
}
