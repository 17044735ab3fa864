//! The session row and its state.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{BlockId, ChatId, ContactId, FlowId, FlowVersionId, RouterId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// Who owns the conversation (spec B 2.5; there is no `frozen` mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The flow engine answers.
    Flow,
    /// A human works a ticket.
    Human,
    /// An AI agent answers.
    Agent,
}

impl Mode {
    /// The name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// Most stops that `sessionHistory` keeps; the row is rewritten at every turn, so it stays small.
pub const MAX_HISTORY: usize = 20;

/// A place at which a session waited for input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The flow.
    #[serde(rename = "f")]
    pub flow_id: FlowId,
    /// The block.
    #[serde(rename = "b")]
    pub block_id: BlockId,
}

/// The input a session waits for at its current block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Wrong answers so far.
    #[serde(default)]
    pub retries: u32,
    /// When the wait runs out (rulings S7).
    pub deadline: Timestamp,
}

/// Where a session stands in a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The flow.
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
    /// What an operator reads.
    pub message: String,
}

/// A conversation in progress. `version` guards every write (compare-and-set), `epoch` counts the
/// changes of owner (rulings S6, S14).
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Changes with every write.
    pub version: i64,
    /// Raised at every change of owner.
    pub epoch: i64,
    /// The router that owns it.
    pub router_id: RouterId,
    /// The contact.
    pub contact_id: ContactId,
    /// The chat that its messages belong to.
    pub chat_id: ChatId,
    /// Its owner.
    pub mode: Mode,
    /// Where it stands; `None` when the router has no flow to run.
    pub position: Option<Position>,
    /// Session variables.
    pub variables: Map<String, Value>,
    /// The stops so far, oldest first, at most [`MAX_HISTORY`]; while the session waits, the last one
    /// is the block it waits at.
    pub history: Vec<Stop>,
    /// External redirects, oldest first, at most [`MAX_HISTORY`].
    pub redirects: Vec<Stop>,
    /// How long it waits for input when the block sets no time of its own.
    pub expiry_timeout: Duration,
    /// When it began.
    pub started_at: Timestamp,
    /// When the contact last wrote.
    pub last_interaction_at: Timestamp,
    /// When the timer worker must look at it again: at or before the deadline of its wait. It is
    /// moved only when it must be, so that an ordinary turn does not touch the index.
    pub wake_at: Option<Timestamp>,
}

impl Session {
    /// A session that has not run yet. Versions start at the clock, so that a session that ended
    /// and began again under the same id is never taken for the old one.
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
            epoch: 0,
            router_id,
            contact_id,
            chat_id,
            mode: Mode::Flow,
            position: None,
            variables: Map::new(),
            history: Vec::new(),
            redirects: Vec::new(),
            expiry_timeout: Duration::from_secs(30 * 60),
            started_at: now,
            last_interaction_at: now,
            wake_at: None,
        }
    }

    /// When its wait for input runs out.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.position.as_ref()?.waiting.as_ref().map(|waiting| waiting.deadline)
    }

    /// Sets [`Session::wake_at`] so that the timer worker sees the deadline in time.
    pub fn arm(&mut self, now: Timestamp) {
        self.wake_at = match (self.deadline(), self.wake_at) {
            (None, _) => None,
            (Some(deadline), Some(wake)) if wake <= deadline && wake > now => Some(wake),
            (Some(deadline), _) => Some(deadline),
        };
    }

    /// Notes a stop, dropping the oldest beyond [`MAX_HISTORY`].
    pub fn push_stop(&mut self, stop: Stop) {
        if self.history.len() >= MAX_HISTORY {
            self.history.remove(0);
        }
        self.history.push(stop);
    }
}
