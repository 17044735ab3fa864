//! A turn as it is written.

use std::sync::Arc;

use flowsdk_core::event::TokenUsage;
use flowsdk_core::id::{AgentId, ChatId, Id, RouterId};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{Item, ToolCall};
use crate::turn::{Course, MediaFault};

/// Identifier of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct AgentTurnId(Arc<str>);

/// A turn of an AI agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTurn {
    /// The id of the turn.
    pub id: AgentTurnId,
    /// The router of the session.
    pub router_id: RouterId,
    /// The session.
    pub session_id: SessionId,
    /// The chat of the session.
    pub chat_id: ChatId,
    /// The agent that answers.
    pub agent_id: AgentId,
    /// The session's `epoch` while its agents have it (rulings S14). A turn of another one changes nothing.
    pub epoch: i64,
    /// Which agent of the chain it is: turns of one number go on from each other.
    pub activation: u32,
    /// The number of the turn in the session, over the whole chain, from 1.
    pub number: u32,
    /// How often it was written. A writer who has read another number has lost it.
    pub step: u32,
    /// Whether it goes on.
    pub is_running: bool,
    /// What was said in it so far, the first input first.
    pub items: Vec<Item>,
    /// How many of the items the model had seen or made with its last answer.
    pub answered: u32,
    /// What its course has counted.
    pub course: Course,
    /// The call that was begun outside of a transaction, and has no result yet.
    pub began_call: Option<String>,
    /// The answers of models, and the failures to answer, in order.
    pub answers: Vec<ModelAnswered>,
    /// Why the agent's part ended with this turn.
    pub end_reason: Option<String>,
    /// Why the turn failed.
    pub error: Option<String>,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// An answer of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelAnswered {
    /// The model that was asked.
    pub model: String,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The tokens that it used.
    pub usage: TokenUsage,
    /// From the request to the whole answer, in milliseconds.
    pub latency_ms: u64,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A turn without what was said in it.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnDigest {
    /// The id of the turn.
    pub id: AgentTurnId,
    /// The router of the session.
    pub router_id: RouterId,
    /// The session.
    pub session_id: SessionId,
    /// The chat of the session.
    pub chat_id: ChatId,
    /// The agent that answers.
    pub agent_id: AgentId,
    /// The number of the turn in the session, from 1.
    pub number: u32,
    /// Whether it goes on.
    pub is_running: bool,
    /// What its course has counted.
    pub course: Course,
    /// The answers of models, and the failures to answer, in order.
    pub answers: Vec<ModelAnswered>,
    /// Why the agent's part ended with this turn.
    pub end_reason: Option<String>,
    /// Why the turn failed.
    pub error: Option<String>,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// What was said in a turn that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct PastTurn {
    /// The session.
    pub session_id: SessionId,
    /// The number of the turn in the session.
    pub number: u32,
    /// What was said in it, the first input first.
    pub items: Vec<Item>,
    /// How many of the items the model had seen or made with its last answer.
    pub answered: u32,
}

/// Which turns are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTurnFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those of this agent.
    pub agent_id: Option<AgentId>,
    /// Those of this chat.
    pub chat_id: Option<ChatId>,
    /// Those of this session.
    pub session_id: Option<SessionId>,
    /// Those that have an error, or those that have none.
    pub has_failed: Option<bool>,
    /// Those that go on, or those that have ended.
    pub is_running: Option<bool>,
}

impl Reachable for AgentTurnFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl AgentTurn {
    /// Ends the turn.
    pub fn end(&mut self, reason: Option<&str>, now: Timestamp) {
        self.is_running = false;
        self.end_reason = reason.map(str::to_owned);
        self.ended_at = Some(now);
    }

    /// Ends the turn because of an error.
    /// Calls without a result get one: no model takes a conversation in which one lacks.
    pub fn fail(&mut self, error: &str, reason: Option<&str>, now: Timestamp) {
        for call in self.open_calls() {
            self.items.push(Item::result(call.id, format!("error: {error}")));
        }
        self.began_call = None;
        self.error = Some(error.to_owned());
        self.end(reason, now);
    }

    /// Puts what was said in recordings into the first input, or why nobody knows.
    pub fn note_heard(&mut self, transcriptions: &[Result<String, MediaFault>]) {
        let heard = self.course.note_heard(transcriptions);
        if let (Some(heard), Some(Item::User { text, .. })) = (heard, self.items.first_mut()) {
            *text = heard;
        }
    }

    /// Returns the calls of the last answer that have no result yet, in their order.
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let has_result = |id: &str| {
            self.items.iter().any(|item| matches!(item, Item::ToolResult { call_id, .. } if call_id == id))
        };
        let calls = self.items.iter().filter_map(|item| match item {
            Item::ToolCall(call) if !has_result(&call.id) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }
}
