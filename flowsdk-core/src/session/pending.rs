//! A turn that waits for something outside: where it goes on.

use serde::{Deserialize, Serialize};

use crate::message::IncomingMessage;
use crate::time::Timestamp;

/// Which actions of a block run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// The actions of `onEnter`, before the contents.
    OnEnter,
    /// The actions of `onLeave`, before the output.
    OnLeave,
}

/// A turn that waits for the result of an action. It is stored with everything that was said before it,
/// and carries no rendered text: a secret of a request never stands in the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// The number of the request; a result of another one is stale.
    pub seq: i64,
    /// The list of the action, in the block on which the session stands.
    pub phase: Phase,
    /// Which of its actions, from 0.
    pub action: usize,
    /// 1, or 2 for a repetition.
    pub attempt: u32,
    /// When the result counts as lost.
    pub deadline: Timestamp,
    /// Blocks that the turn has entered so far.
    pub steps: u32,
    /// Bytes of text that the turn has made so far.
    pub bytes: usize,
    /// Units of work that the turn has used so far.
    #[serde(default)]
    pub work: u64,
    /// Whether the turn was led to an `errorTarget` before.
    #[serde(default)]
    pub failed: bool,
    /// The message of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<IncomingMessage>,
}
