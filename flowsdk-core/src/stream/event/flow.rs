//! `stream:flow`.

use serde::{Deserialize, Serialize};

use super::IncomingEvent;
use crate::id::{BlockId, ChatId, FlowId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// What the engine is asked to do with a session (spec B 6), discriminated by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FlowEvent {
    /// The contact wrote.
    Message(IncomingEvent),
    /// A redirect from outside (spec A 4.5 rule 3).
    ExternalJump(ExternalJump),
    /// An AI agent hands the session back (spec B 2.5).
    AgentSessionEnded(HandBack),
    /// A human hands the session back (spec B 3.2).
    HumanSessionEnded(HandBack),
    /// A wait for input may have run out (rulings S7).
    InputTimeout(InputTimeout),
    /// A frozen session goes on (rulings S5).
    Resume(Resume),
}

impl FlowEvent {
    /// The session it is about.
    pub fn session_id(&self) -> &SessionId {
        match self {
            Self::Message(event) => &event.session_id,
            Self::ExternalJump(event) => &event.session_id,
            Self::AgentSessionEnded(event) | Self::HumanSessionEnded(event) => &event.session_id,
            Self::InputTimeout(event) => &event.session_id,
            Self::Resume(event) => &event.session_id,
        }
    }
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalJump {
    /// The session.
    pub session_id: SessionId,
    /// The flow to go to.
    pub flow_id: FlowId,
    /// Its block.
    pub block_id: BlockId,
    /// Whether to run the block now or only to stand on it.
    #[serde(default = "yes")]
    pub execute_on_entry: bool,
    /// The redirect itself, unique: one that is delivered twice is followed once. Without it every delivery
    /// is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_id: Option<String>,
}

fn yes() -> bool {
    true
}

/// The end of an AI agent's or a human's part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandBack {
    /// The session.
    pub session_id: SessionId,
    /// Its chat.
    pub chat_id: ChatId,
    /// The contact's address on the channel.
    pub to: String,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// Where to go instead of the block's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_target: Option<JumpTarget>,
    /// When it ended.
    pub timestamp: Timestamp,
}

/// A flow and a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JumpTarget {
    /// The flow.
    pub flow_id: FlowId,
    /// Its block.
    pub block_id: BlockId,
}

/// A timer rang.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputTimeout {
    /// The session.
    pub session_id: SessionId,
}

/// An operator lets a frozen session go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The session.
    pub session_id: SessionId,
    /// Since when it is frozen: a session that froze again since is left alone.
    pub frozen_at: Timestamp,
}
