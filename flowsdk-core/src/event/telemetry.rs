//! `stream:agent-turns`, `stream:llm-usage` (rulings G5).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{AgentId, ChatId, RouterId, TicketId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// One turn of an AI agent, whole: every model call with its tool calls and their results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTurnEvent {
    /// The turn; the same when it is published twice.
    pub turn_id: String,
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The id of the router.
    pub router_id: RouterId,
    /// The agent that answered.
    pub agent_id: AgentId,
    /// The AI ticket of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<TicketId>,
    /// Number of the turn in the session, over the whole chain of agents, from 1.
    pub turn: u32,
    /// The model calls, in order.
    pub model_calls: Vec<ModelCall>,
    /// `agentEndReason` when the turn ended the agent's part (spec B 4.9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<String>,
    /// Why the turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// From its start to its end, in milliseconds.
    pub latency_ms: u64,
    /// When the turn began.
    pub timestamp: Timestamp,
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// The model that was called.
    pub model: String,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The response it went on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<String>,
    /// The input of the model, unchanged.
    pub input: Value,
    /// The text of the model outside tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_text: Option<String>,
    /// The tools it called, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The tokens that the call used.
    pub usage: TokenUsage,
    /// From the request to the whole answer, in milliseconds.
    pub latency_ms: u64,
    /// Why the call failed; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// One call of a tool, with its one result (spec B 4.9 step 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's id of the call.
    pub call_id: String,
    /// The name of the tool.
    pub name: String,
    /// Its arguments as the model wrote them; a string where they are no JSON.
    pub arguments: Value,
    /// The result that the model received.
    pub result: String,
    /// Whether the tool succeeded.
    pub ok: bool,
    /// From the call to its result, in milliseconds.
    pub latency_ms: u64,
}

/// Tokens of one or more model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// All tokens that went in, cached ones too.
    pub input_tokens: u64,
    /// Those of them that the provider had cached.
    pub cached_input_tokens: u64,
    /// All tokens that came out, reasoning too.
    pub output_tokens: u64,
    /// Those of them that were spent on reasoning.
    pub reasoning_tokens: u64,
}

/// Tokens and cost of one model call, by router, agent and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LlmUsageEvent {
    /// The call; the same when it is published twice.
    pub usage_id: String,
    /// The session it was made for.
    pub session_id: SessionId,
    /// The id of the router.
    pub router_id: RouterId,
    /// The agent; absent for calls that no agent made, such as summaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The provider that was called.
    pub provider: String,
    /// The model that was called.
    pub model: String,
    /// The tokens that the call used.
    pub usage: TokenUsage,
    /// The cost in millionths of a US dollar, where the model's price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
    /// When it was made.
    pub timestamp: Timestamp,
}
