//! `stream:flow`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::IncomingEvent;
use crate::flow::EffectResult;
use crate::id::{BlockId, ChatId, FlowId};
use crate::session::SessionId;
use crate::time::Timestamp;

/// A request to the engine about a session (spec B 6), discriminated by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum FlowEvent {
    /// Messages of the contact, where the orchestrator and the engine are apart.
    Message(IncomingEvent),
    /// A redirect from outside (spec A 4.5 rule 3).
    ExternalJump(ExternalJump),
    /// An AI agent hands the session back (spec B 2.5).
    AgentSessionEnded(HandBack),
    /// A human hands the session back (spec B 3.2).
    HumanSessionEnded(HandBack),
    /// A wait for input may have run out (rulings S7).
    InputTimeout(InputTimeout),
    /// The outside request of an action is done.
    EffectDone(EffectDone),
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
            Self::EffectDone(event) => &event.session_id,
            Self::Resume(event) => &event.session_id,
        }
    }
}

impl FlowEvent {
    /// Returns the id of the redirect that it is.
    pub(crate) fn redirect_id(&self) -> Option<&String> {
        match self {
            Self::ExternalJump(jump) => jump.redirect_id.as_ref(),
            _ => None,
        }
    }

    /// Returns whether it was left with its session, and is handled from there.
    pub(crate) fn stands_ahead(&self) -> bool {
        matches!(self, Self::ExternalJump(jump) if jump.ahead)
    }

    /// Returns the flow that it leads to.
    pub(crate) fn target_flow(&self) -> Option<&FlowId> {
        match self {
            Self::ExternalJump(jump) => Some(&jump.flow_id),
            Self::AgentSessionEnded(event) | Self::HumanSessionEnded(event) => {
                event.jump_target.as_ref().map(|target| &target.flow_id)
            }
            Self::Message(_) | Self::InputTimeout(_) | Self::EffectDone(_) | Self::Resume(_) => None,
        }
    }
}

/// A redirect of a session to a block of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExternalJump {
    /// The id of the session.
    pub session_id: SessionId,
    /// The flow to go to.
    pub flow_id: FlowId,
    /// The id of the block.
    pub block_id: BlockId,
    /// Whether to run the block now or only to stand on it.
    #[serde(default = "crate::default::yes")]
    pub execute_on_entry: bool,
    /// The redirect itself, unique: one that is delivered twice is followed once. Without it every delivery
    /// is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_id: Option<String>,
    /// Whether it was left with its session too (rulings S21). Then it is followed from there, once, and the event only
    /// sees to it that this happens.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ahead: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The end of an AI agent's or a human's part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandBack {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The contact's address on the channel.
    pub to: String,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// Where to go instead of the block's outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_target: Option<JumpTarget>,
    /// Why the agent ended (spec B 4.9): `resolved`, `escalated`, `maxMessages`, `fallback_stuck`,
    /// `inactivity` or any other; becomes the session variable of the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_end_reason: Option<String>,
    /// The ticket that ended, with `exit.key` and `exit.survey`; becomes the session variable `ticket`
    /// (spec A 9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<Map<String, Value>>,
    /// Why human attendance did not start; becomes the session variable of the same name (spec A 9).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_deflect: Option<HandoffDeflect>,
    /// The session's `epoch` while its owner had it (rulings S14): a hand-back of an owner that has lost it
    /// since does nothing. Without it only the mode is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// When the owner's part ended.
    pub timestamp: Timestamp,
}

/// Why human attendance did not start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffDeflect {
    /// In one word, for conditions.
    pub reason: String,
    /// The reason in words, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Which place in the queue the contact would have had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// How long they would have waited, in minutes, as far as that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_minutes: Option<u32>,
}

/// A flow and a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JumpTarget {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The id of the block.
    pub block_id: BlockId,
}

/// A wait of the session may have run out; the engine compares it with the deadline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputTimeout {
    /// The id of the session.
    pub session_id: SessionId,
}

/// The result of the outside request of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectDone {
    /// The id of the session.
    pub session_id: SessionId,
    /// The number of the request: a result of another one than the session waits for does nothing.
    pub seq: i64,
    /// The result of the request.
    pub result: EffectResult,
    /// How long the request took, in milliseconds, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

/// An operator lets a frozen session go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The id of the session.
    pub session_id: SessionId,
    /// Since when it is frozen: a session that froze again since is left alone.
    pub frozen_at: Timestamp,
}
