//! The state that an AI agent keeps in a session while it has it (spec B 2.5).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Sentiment, SentimentResult};
use crate::id::{AgentId, TicketId};
use crate::time::Timestamp;

/// The state of the AI agents of a session. It is there while the mode is `agent` and deleted with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentState {
    /// The agent that answers now.
    pub active_agent_id: AgentId,
    /// The agents that have the session, the current one last.
    pub agent_chain: Vec<ChainEntry>,
    /// How often the session went from one agent to another: what an agent remembers begins with it.
    #[serde(default)]
    pub activation: u32,
    /// Local history, for logs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Value>,
    /// The model's last response, where the provider keeps the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response_id: Option<String>,
    /// The known facts of the contact when the agent began.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub contact_context_snapshot: String,
    /// The configuration with which it runs; `None` until the executor has read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_snapshot: Option<AgentConfigSnapshot>,
    /// Turns so far, over the whole chain.
    pub turn_count: u32,
    /// Turns after which the agents' part ends by force: the block's `maxMessages`.
    pub max_messages: u32,
    /// The AI ticket, kept across transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<TicketId>,
    /// The customer's last sentiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<SentimentResult>,
    /// The sentiments so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentiment_history: Vec<SentimentItem>,
    /// The time of the newest message of the contact that a turn has taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_until: Option<Timestamp>,
    /// When the contact counts as inactive (rulings S7). `None` once the executor was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

/// One agent of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainEntry {
    /// The id of the agent.
    pub agent_id: AgentId,
    /// Whether the one before gets the session back.
    pub return_to_parent: bool,
}

/// The configuration with which an agent runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentConfigSnapshot {
    /// The id of the agent.
    pub agent_id: AgentId,
    /// Its active system prompts.
    pub system_prompt: String,
    /// The provider's name of the model.
    pub model: String,
    /// The provider of the model.
    pub provider: String,
    /// The restrictions that the model is told, in order.
    #[serde(default)]
    pub guardrails: Vec<String>,
    /// Turns after which it ends by force.
    pub max_messages: u32,
}

/// A customer's sentiment in one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct SentimentItem {
    /// The number of the turn in the session.
    pub turn: u32,
    pub sentiment: Sentiment,
    /// How strong it is, from 0 to 10.
    pub score: f64,
    /// When it was judged.
    pub updated_at: Timestamp,
}

impl AgentState {
    /// Returns the state with which a block hands the session to `agent` (spec B 3.3).
    pub fn begin(agent: AgentId, max_messages: u32, deadline: Timestamp) -> Self {
        Self {
            agent_chain: vec![ChainEntry { agent_id: agent.clone(), return_to_parent: false }],
            active_agent_id: agent,
            activation: 0,
            messages: Vec::new(),
            previous_response_id: None,
            contact_context_snapshot: String::new(),
            config_snapshot: None,
            turn_count: 0,
            max_messages,
            ticket_id: None,
            sentiment: None,
            sentiment_history: Vec::new(),
            heard_until: None,
            deadline: Some(deadline),
        }
    }
}
