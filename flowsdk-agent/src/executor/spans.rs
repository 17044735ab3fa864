//! The spans of a turn, with the names that OpenTelemetry has for generative AI. They have no content: neither what was said
//! nor what tools were given.

use tracing::Span;
use tracing::field::Empty;

use super::equipping::OpenTurn;
use crate::model::Answer;

/// The span of a turn.
pub(super) fn invoke_agent(turn: &OpenTurn) -> Span {
    let (name, agent) = (&turn.configuration.name, turn.record.agent_id.as_str());
    tracing::info_span!(
        "invoke_agent",
        otel.name = format!("invoke_agent {name}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.id = agent,
        gen_ai.agent.name = name.as_str(),
        gen_ai.conversation.id = turn.record.session_id.as_str(),
    )
}

/// The span of one request to a model of a provider.
pub(super) fn chat(provider: &str, model: &str) -> Span {
    tracing::info_span!(
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = provider,
        gen_ai.request.model = model,
        gen_ai.response.id = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
    )
}

/// Notes in the span of a request what its answer took.
pub(super) fn answered(span: &Span, answer: &Answer) {
    if let Some(id) = &answer.response_id {
        span.record("gen_ai.response.id", id.as_str());
    }
    // Exporters know signed numbers only.
    let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    span.record("gen_ai.usage.input_tokens", count(answer.usage.input_tokens));
    span.record("gen_ai.usage.output_tokens", count(answer.usage.output_tokens));
}

/// The span of a tool, by its name, that a turn with the span `of_turn` calls.
pub(super) fn execute_tool(of_turn: &Span, turn: &OpenTurn, name: &str) -> Span {
    tracing::info_span!(
        parent: of_turn,
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.agent.id = turn.record.agent_id.as_str(),
        gen_ai.conversation.id = turn.record.session_id.as_str(),
    )
}
