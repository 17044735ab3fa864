//! The steps of a turn, for operators and the simulator.

use std::borrow::Cow;

use serde::Serialize;

use crate::id::{BlockId, FlowId};
use crate::session::Mode;

/// One step. It names blocks and variables and never carries a value, so no secret can be in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TraceStep {
    /// The turn went on in another flow.
    FlowEntered {
        /// The id of the flow.
        flow_id: FlowId,
    },
    /// A sub-flow ended, and the turn went on in the flow that called it.
    FlowReturned {
        /// The flow that called.
        flow_id: FlowId,
    },
    /// A redirect from outside, to a block of this flow or of the one that is entered next.
    Redirected {
        /// The id of the block.
        block_id: BlockId,
    },
    /// The session went to another owner.
    HandedOver {
        /// The owner.
        to: Mode,
    },
    /// The session came back.
    HandedBack {
        /// The former owner.
        from: Mode,
    },
    /// The turn waits for the result of an action.
    Suspended {
        /// The `type` of the action.
        kind: &'static str,
    },
    /// No result came, and the action is done again.
    Repeated {
        /// The `type` of the action.
        kind: &'static str,
    },
    /// A block was entered.
    BlockEntered {
        /// The id of the block.
        block_id: BlockId,
    },
    /// An answer was judged.
    Answer {
        /// Whether it was valid.
        valid: bool,
    },
    /// The wait for an answer ran out.
    TimedOut,
    /// The conditions of an output were judged.
    Output {
        /// Which of the block's outputs, from 0.
        index: usize,
        /// Whether they held.
        held: bool,
    },
    /// No output held, and the default one was taken.
    DefaultOutput,
    /// An action ran.
    Action {
        /// Its `type`.
        kind: &'static str,
        /// The outcome of the action.
        result: ActionResult,
    },
    /// A session variable was set.
    VariableSet {
        /// Its name.
        key: String,
    },
    /// A message was sent.
    Sent {
        /// Its `type`.
        kind: &'static str,
    },
    /// A runtime error.
    Failed {
        /// Its stable code.
        code: Cow<'static, str>,
    },
}

/// The outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ActionResult {
    /// The action succeeded.
    Done,
    /// Its conditions did not hold.
    Skipped,
    /// It failed.
    Failed,
}
