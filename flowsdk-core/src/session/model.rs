//! The session row and its state.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::history::{self, HistoryChunk, HistoryKind};
use super::{AgentState, Pending, SessionId};
use crate::cell::Named;
use crate::id::{BlockId, ChatId, ContactId, FlowId, FlowVersionId, RouterId, TicketId};
use crate::message::IncomingMessage;
use crate::time::Timestamp;

/// The owner of the conversation (spec B 2.5; there is no `frozen` mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The flow engine answers.
    Flow,
    /// A human works a ticket.
    Human,
    /// An AI agent answers.
    Agent,
}

/// A place at which a session waited for input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The id of the flow.
    #[serde(rename = "f")]
    pub flow_id: FlowId,
    /// The id of the block.
    #[serde(rename = "b")]
    pub block_id: BlockId,
}

/// Most sub-flows that wait for each other in one session.
pub const MAX_CALLS: usize = 8;

/// Most messages that wait while a turn waits for something outside.
pub const MAX_DEFERRED: usize = 100;

/// An external redirect (spec A 4.5 rule 3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirect {
    /// The flow it led to.
    #[serde(rename = "f")]
    pub flow_id: FlowId,
    /// The id of the block.
    #[serde(rename = "b")]
    pub block_id: BlockId,
    /// The redirect itself: one that comes twice is followed once.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub redirect_id: Option<String>,
}

impl Redirect {
    /// Returns the place it led to.
    pub fn stop(&self) -> Stop {
        Stop { flow_id: self.flow_id.clone(), block_id: self.block_id.clone() }
    }
}

/// A block that waits for the end of the flow it called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The flow of the block.
    pub flow_id: FlowId,
    /// Its version: a session comes back to the one it left.
    pub version_id: FlowVersionId,
    /// The id of the block.
    pub block_id: BlockId,
}

/// The state that the helpdesk keeps in a session while a human has it (spec B 3.2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelpdeskState {
    /// The id of the ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<TicketId>,
}

/// The input a session waits for at its current block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Wrong answers so far.
    #[serde(default)]
    pub retries: u32,
    /// When the wait runs out (rulings S7).
    pub deadline: Timestamp,
    /// A redirect put the session here without running the block: the next message enters it (spec A 4.5
    /// rule 3).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repositioned: bool,
}

/// Where a session stands in a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The immutable version the session runs on; a later publish does not change it.
    pub version_id: FlowVersionId,
    /// The block it stands on; `None` before the flow was entered.
    pub block_id: Option<BlockId>,
    /// The input it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// Why a session is frozen (rulings S5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenError {
    /// Stable code, for example `flow_loop`.
    pub code: String,
    /// The message for operators.
    pub message: String,
}

/// A conversation in progress. `version` guards every write (compare-and-set), `epoch` counts the
/// changes of owner (rulings S6, S14).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Session {
    pub id: SessionId,
    /// Changes with every write.
    pub version: i64,
    /// Raised at every change of owner. It starts at the clock, as the version does.
    pub epoch: i64,
    /// The router that owns it.
    pub router_id: RouterId,
    /// The id of the contact.
    pub contact_id: ContactId,
    /// The chat that its messages belong to.
    pub chat_id: ChatId,
    /// The owner of the conversation.
    pub mode: Mode,
    /// Where it stands; `None` when the router has no flow to run.
    pub position: Option<Position>,
    /// The variables that flows and agents set.
    pub variables: Map<String, Value>,
    /// The stops so far, oldest first, at most [`MAX_HISTORY`](super::MAX_HISTORY); while the session waits, the last one
    /// is the block it waits at.
    pub history: Vec<Stop>,
    /// How many stops there were before those of `history`.
    pub stops_before: i64,
    /// External redirects, oldest first, at most [`MAX_HISTORY`](super::MAX_HISTORY).
    pub redirects: Vec<Redirect>,
    /// How many redirects there were before those of `redirects`.
    pub redirects_before: i64,
    /// Stops and redirects that the next save puts into rows of their own. A session as read has none.
    pub archive: Vec<HistoryChunk>,
    /// Sub-flow blocks that wait for their flow to end, the innermost last, at most [`MAX_CALLS`].
    pub calls: Vec<Call>,
    /// The AI agents that have it; only in mode `agent`.
    pub agent: Option<Box<AgentState>>,
    /// The state of the helpdesk; only in mode `human`.
    pub helpdesk: Option<HelpdeskState>,
    /// The turn that waits for something outside.
    pub pending: Option<Box<Pending>>,
    /// Messages that came meanwhile, oldest first, at most [`MAX_DEFERRED`].
    pub deferred: Vec<IncomingMessage>,
    /// The number of the last request to the outside. It starts at the clock, so that a result for a
    /// session that ended is never taken for one of its successor.
    pub effect_seq: i64,
    /// How long it waits for input when the block sets no time of its own.
    pub expiry_timeout: Duration,
    pub started_at: Timestamp,
    /// When the contact last wrote.
    pub last_interaction_at: Timestamp,
    /// When the timer worker must look at it again: at or before the deadline of its wait. It is
    /// moved only when it must be, so that an ordinary turn does not touch the index.
    pub wake_at: Option<Timestamp>,
}

impl Session {
    /// Returns a session that has not run yet. Versions start at the clock, so that a session that ended and began
    /// again under the same id is never taken for the old one.
    pub fn begin(
        id: SessionId,
        router_id: RouterId,
        contact_id: ContactId,
        chat_id: ChatId,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            version: now.as_millis(),
            epoch: now.as_millis(),
            router_id,
            contact_id,
            chat_id,
            mode: Mode::Flow,
            position: None,
            variables: Map::new(),
            history: Vec::new(),
            stops_before: 0,
            redirects: Vec::new(),
            redirects_before: 0,
            archive: Vec::new(),
            calls: Vec::new(),
            agent: None,
            helpdesk: None,
            pending: None,
            deferred: Vec::new(),
            effect_seq: now.as_millis(),
            expiry_timeout: Duration::from_secs(30 * 60),
            started_at: now,
            last_interaction_at: now,
            wake_at: None,
        }
    }

    /// Returns the end of the wait: for a result from outside, for an answer, or for the contact's activity at an
    /// AI agent. A human waits without an end.
    pub fn deadline(&self) -> Option<Timestamp> {
        if let Some(pending) = &self.pending {
            return Some(pending.deadline);
        }
        match self.mode {
            Mode::Flow => self.position.as_ref()?.waiting.as_ref().map(|waiting| waiting.deadline),
            Mode::Agent => self.agent.as_ref()?.deadline,
            Mode::Human => None,
        }
    }

    /// Returns whether the session is at its last stop and waits for the answer there.
    pub fn is_at_stop(&self) -> bool {
        let waiting = self.position.as_ref().and_then(|position| position.waiting.as_ref());
        waiting.is_some_and(|waiting| !waiting.repositioned)
    }

    /// Passes the session to another owner (rulings S14).
    pub fn give_to(&mut self, owner: Mode) {
        self.mode = owner;
        self.epoch += 1;
        self.agent = None;
        self.helpdesk = None;
    }

    /// Sets [`Session::wake_at`] so that the timer worker sees the deadline in time.
    pub fn arm(&mut self, now: Timestamp) {
        self.wake_at = match (self.deadline(), self.wake_at) {
            (None, _) => None,
            (Some(deadline), Some(wake)) if wake <= deadline && wake > now => Some(wake),
            (Some(deadline), _) => Some(deadline),
        };
    }

    /// Notes a stop. The oldest beyond [`MAX_HISTORY`](super::MAX_HISTORY) leaves the row, and is archived by then.
    pub fn push_stop(&mut self, stop: Stop) {
        let full = history::push(&mut self.history, &mut self.stops_before, stop);
        let chunk = |(first, entries)| HistoryChunk { kind: HistoryKind::Stop, first, entries };
        self.archive.extend(full.map(chunk));
    }

    /// Notes a redirect. The oldest beyond [`MAX_HISTORY`](super::MAX_HISTORY) leaves the row, and is archived by then.
    pub fn push_redirect(&mut self, redirect: Redirect) {
        let full = history::push(&mut self.redirects, &mut self.redirects_before, redirect);
        let chunk = |(first, redirects): (i64, Vec<Redirect>)| {
            let entries = redirects.iter().map(Redirect::stop).collect();
            HistoryChunk { kind: HistoryKind::Redirect, first, entries }
        };
        self.archive.extend(full.map(chunk));
    }
}
