//! The public form of turns.

use flowsdk_core::id::{AgentId, ChatId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{AgentTurn, AgentTurnId, ModelAnswered, TurnDigest};
use crate::guardrail::Masking;
use crate::model::Item;

/// A turn of an AI agent in figures.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentTurnSummary {
    /// The id of the turn.
    pub id: AgentTurnId,
    /// The router of the session.
    pub router_id: RouterId,
    /// The agent that answers.
    pub agent_id: AgentId,
    /// The session.
    pub session_id: SessionId,
    /// The chat of the session.
    pub chat_id: ChatId,
    /// The number of the turn since the agents got the session, from 1.
    pub number: u32,
    /// Whether it goes on.
    pub is_running: bool,
    /// Why the agent's part ended with this turn; null if it did not.
    #[schema(required = true, example = "resolved")]
    pub end_reason: Option<String>,
    /// Why the turn failed; null if it did not.
    #[schema(required = true, example = "budget")]
    pub error: Option<String>,
    /// When it began.
    pub began_at: IsoTime,
    /// When it ended; null while it goes on.
    #[schema(required = true)]
    pub ended_at: Option<IsoTime>,
    /// All tokens that went in, cached ones too.
    pub input_tokens: u64,
    /// All tokens that came out, those of reasoning too.
    pub output_tokens: u64,
    /// How long models were waited for, in milliseconds.
    pub latency_ms: u64,
    /// How often a model was asked, failures too.
    pub answer_count: usize,
    /// How many calls of tools the answers had.
    pub call_count: u32,
}

impl From<TurnDigest> for AgentTurnSummary {
    fn from(turn: TurnDigest) -> Self {
        let sum = |of: fn(&ModelAnswered) -> u64| turn.answers.iter().map(of).fold(0, u64::saturating_add);
        Self {
            input_tokens: sum(|answer| answer.usage.input_tokens),
            output_tokens: sum(|answer| answer.usage.output_tokens),
            latency_ms: sum(|answer| answer.latency_ms),
            answer_count: turn.answers.len(),
            call_count: turn.course.calls(),
            id: turn.id,
            router_id: turn.router_id,
            agent_id: turn.agent_id,
            session_id: turn.session_id,
            chat_id: turn.chat_id,
            number: turn.number,
            is_running: turn.is_running,
            end_reason: turn.end_reason,
            error: turn.error,
            began_at: turn.began_at.into(),
            ended_at: turn.ended_at.map(IsoTime),
        }
    }
}

/// An answer of a model, or its failure to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiAgentAnswer)]
pub struct AnswerView {
    /// The model that was asked.
    #[schema(example = "gpt-5-mini")]
    pub model: String,
    /// The provider's id of the response; null if it gives none.
    #[schema(required = true)]
    pub response_id: Option<String>,
    /// All tokens that went in, cached ones too.
    pub input_tokens: u64,
    /// Those of them that the provider had cached.
    pub cached_input_tokens: u64,
    /// All tokens that came out, those of reasoning too.
    pub output_tokens: u64,
    /// Those of them that were spent on reasoning.
    pub reasoning_tokens: u64,
    /// From the request to the whole answer, in milliseconds.
    pub latency_ms: u64,
    /// Why there is no answer; null if there is one.
    #[schema(required = true)]
    pub error: Option<String>,
}

impl From<ModelAnswered> for AnswerView {
    fn from(answer: ModelAnswered) -> Self {
        let ModelAnswered { model, response_id, usage, latency_ms, error } = answer;
        Self {
            model,
            response_id,
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            latency_ms,
            error,
        }
    }
}

/// A turn of an AI agent with all that was said in it.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AgentTurnView {
    /// Its figures.
    #[serde(flatten)]
    pub summary: AgentTurnSummary,
    /// What was said, in order: what the model was told, its texts and calls, and the one result of each call. Personal data
    /// that it was not told have placeholders, numbered anew in each turn.
    pub items: Vec<Item>,
    /// What models answered, in order.
    pub answers: Vec<AnswerView>,
}

impl From<AgentTurn> for AgentTurnView {
    fn from(turn: AgentTurn) -> Self {
        let answers = turn.answers.iter().cloned().map(AnswerView::from).collect();
        let mut masking = Masking::new(turn.course.hidden());
        let items = turn.items.iter().map(|item| masking.mask_item(item)).collect();
        let digest = TurnDigest {
            id: turn.id,
            router_id: turn.router_id,
            session_id: turn.session_id,
            chat_id: turn.chat_id,
            agent_id: turn.agent_id,
            number: turn.number,
            is_running: turn.is_running,
            course: turn.course,
            answers: turn.answers,
            end_reason: turn.end_reason,
            error: turn.error,
            began_at: turn.began_at,
            ended_at: turn.ended_at,
        };
        Self { summary: digest.into(), items, answers }
    }
}
