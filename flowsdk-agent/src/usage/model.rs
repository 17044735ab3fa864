//! Calls of models, and the figures that they add up to.

use std::ops::AddAssign;

use flowsdk_core::cell::Named;
use flowsdk_core::context::OpContext;
use flowsdk_core::event::TokenUsage;
use flowsdk_core::id::{AgentId, RouterId};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Day;
use crate::ledger::{AgentTurn, ModelAnswered};
use crate::model::Used;
use crate::money::Money;
use crate::price::ModelPrice;

/// Most tokens that a call counts for: providers may say anything.
const MOST_TOKENS: u64 = 1_000_000_000;

/// What a model was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum ModelWork {
    /// An answer in a turn of an agent.
    Turn,
    /// A summary of a ticket or of a chat.
    Summary,
    /// A judgement of how a contact feels, on demand.
    Sentiment,
    /// What is said in a recording.
    Transcription,
    /// The vectors of passages, or of the text of a search.
    Embedding,
}

/// The note of one call of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCall {
    /// The id of the turn that it is an answer of. Any other call has an id of its own.
    pub source_id: String,
    /// The place of the answer in the turn, from 0; 0 for any other call.
    pub position: u32,
    /// What the model was asked for.
    pub work: ModelWork,
    /// The router that pays it.
    pub router_id: RouterId,
    /// The agent that it was made for; `None` for summaries, judgements, and what is no search of an agent.
    pub agent_id: Option<AgentId>,
    /// The model that was asked.
    pub model: String,
    /// The day on which the answer was written, or came.
    pub day: Day,
    /// All tokens that went in, cached ones too.
    pub input_tokens: u64,
    /// Those of them that the provider had cached.
    pub cached_input_tokens: u64,
    /// All tokens that came out, those of reasoning too.
    pub output_tokens: u64,
}

impl ModelCall {
    /// Returns the calls of a turn from its answer number `from` on, from 0, of which it is now written what they used.
    /// A failure is a call if it has used something.
    pub fn of(turn: &AgentTurn, from: usize, now: Timestamp) -> Vec<Self> {
        let is_call =
            |answer: &ModelAnswered| answer.error.is_none() || answer.usage != TokenUsage::default();
        let answers = turn.answers.iter().enumerate().skip(from).filter(|(_, answer)| is_call(answer));
        let call = |(position, answer): (usize, &ModelAnswered)| Self {
            source_id: turn.id.to_string(),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            work: ModelWork::Turn,
            router_id: turn.router_id.clone(),
            agent_id: Some(turn.agent_id.clone()),
            model: answer.model.clone(),
            day: Day::of(now),
            input_tokens: answer.usage.input_tokens.min(MOST_TOKENS),
            cached_input_tokens: answer.usage.cached_input_tokens.min(MOST_TOKENS),
            output_tokens: answer.usage.output_tokens.min(MOST_TOKENS),
        };
        answers.map(call).collect()
    }

    /// Returns a call that is no answer of a turn, with an id of its own.
    pub fn of_work(
        work: ModelWork,
        router_id: RouterId,
        agent_id: Option<AgentId>,
        used: Used,
        cx: &OpContext,
    ) -> Self {
        let Used { model, tokens } = used;
        Self {
            source_id: cx.ids().next_id(),
            position: 0,
            work,
            router_id,
            agent_id,
            model,
            day: Day::of(cx.now()),
            input_tokens: tokens.input_tokens.min(MOST_TOKENS),
            cached_input_tokens: tokens.cached_input_tokens.min(MOST_TOKENS),
            output_tokens: tokens.output_tokens.min(MOST_TOKENS),
        }
    }

    /// Returns the figures of the call, by the price of its model.
    pub fn figures(&self, price: Option<&ModelPrice>) -> UsageFigures {
        let usage = TokenUsage {
            input_tokens: self.input_tokens,
            cached_input_tokens: self.cached_input_tokens,
            output_tokens: self.output_tokens,
            reasoning_tokens: 0,
        };
        UsageFigures {
            calls: 1,
            input_tokens: self.input_tokens,
            cached_input_tokens: self.cached_input_tokens,
            output_tokens: self.output_tokens,
            cost: price.map_or(Money::ZERO, |price| price.cost_of(&usage)),
            unpriced_tokens: if price.is_some() { 0 } else { self.input_tokens + self.output_tokens },
        }
    }
}

/// What calls used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiUsageFigures)]
pub struct UsageFigures {
    /// How many calls there were.
    pub calls: u64,
    /// All tokens that went in, cached ones too.
    pub input_tokens: u64,
    /// Those of them that the provider had cached.
    pub cached_input_tokens: u64,
    /// All tokens that came out, those of reasoning too.
    pub output_tokens: u64,
    /// What the calls of models with a price cost, in the currency of the prices.
    #[schema(value_type = f64, example = 1.25)]
    pub cost: Money,
    /// The tokens, in and out, of calls of models without a price. They are not in the cost.
    pub unpriced_tokens: u64,
}

impl AddAssign for UsageFigures {
    fn add_assign(&mut self, more: Self) {
        self.calls = self.calls.saturating_add(more.calls);
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(more.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.cost = self.cost.plus(more.cost);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(more.unpriced_tokens);
    }
}

/// What a router, or one of its agents, used of a model on a day, for work of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUsage {
    /// The router.
    pub router_id: RouterId,
    /// The work.
    pub work: ModelWork,
    /// The agent, if it was for one.
    pub agent_id: Option<AgentId>,
    /// The model.
    pub model: String,
    /// The day.
    pub day: Day,
    /// The figures.
    pub figures: UsageFigures,
}

/// What the calls of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum UsageGrouping {
    /// The router.
    Router,
    /// The agent.
    Agent,
    /// The model.
    Model,
    /// The day.
    Day,
    /// The work.
    Work,
}

/// Which calls a report is about, as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// Of this router.
    pub router_id: Option<RouterId>,
    /// Of this agent.
    pub agent_id: Option<AgentId>,
    /// Of this model.
    pub model: Option<String>,
    /// Of this work.
    pub work: Option<ModelWork>,
    /// From this day on.
    pub from: Option<Day>,
    /// Until this day, which is part of it.
    pub to: Option<Day>,
    /// What the groups have in common; all calls are one group without it.
    pub by: Vec<UsageGrouping>,
}

impl Reachable for UsageFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// Which calls are wanted, and how they are grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageWanted {
    /// The first day.
    pub from: Day,
    /// The last day.
    pub to: Day,
    /// Those of this agent.
    pub agent_id: Option<AgentId>,
    /// Those of this model.
    pub model: Option<String>,
    /// Those of this work.
    pub work: Option<ModelWork>,
    /// What the groups have in common.
    pub by: Vec<UsageGrouping>,
}

impl UsageWanted {
    /// Returns whether groups have this in common.
    pub fn is_by(&self, grouping: UsageGrouping) -> bool {
        self.by.contains(&grouping)
    }
}

/// What the calls of a group have in common; the fields by which nothing is grouped are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiUsageKey)]
pub struct UsageKey {
    /// The day in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, example = "2026-11-30")]
    pub day: Option<Day>,
    /// The router.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RouterId, required = false)]
    pub router_id: Option<RouterId>,
    /// The agent; null for what no agent was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>, required = false)]
    pub agent_id: Option<Option<AgentId>>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, example = "gpt-5-mini")]
    pub model: Option<String>,
    /// What the model was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ModelWork, required = false)]
    pub work: Option<ModelWork>,
}

/// A part of a report, as storage has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsagePart {
    /// A group of what is counted already.
    Counted(UsageKey, UsageFigures),
    /// A call that is not.
    Noted(ModelCall),
}

/// The figures of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiUsageGroup)]
pub struct UsageGroup {
    /// What its calls have in common.
    #[serde(flatten)]
    pub key: UsageKey,
    /// What they used.
    #[serde(flatten)]
    pub figures: UsageFigures,
}

/// What models used and cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiUsageReport)]
pub struct UsageReport {
    /// The first day, in UTC.
    #[schema(value_type = String, example = "2026-11-01")]
    pub from: Day,
    /// The last day, in UTC.
    #[schema(value_type = String, example = "2026-11-30")]
    pub to: Day,
    /// The groups that have used something, by day, router, agent, model and work.
    pub groups: Vec<UsageGroup>,
    /// The figures of all groups together.
    pub total: UsageFigures,
}
