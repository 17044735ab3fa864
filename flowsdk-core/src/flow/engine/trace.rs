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
        /// The owner from now on.
        to: Mode,
    },
    /// The session came back.
    HandedBack {
        /// The owner until now.
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
    #[allow(missing_docs, reason = "the fields say it")]
    Output {
        /// Which of the block's outputs, from 0.
        index: usize,
        held: bool,
    },
    /// No output held, and the default one was taken.
    DefaultOutput,
    /// An action ran, or was skipped.
    Action {
        /// The `type` of the action.
        kind: &'static str,
        /// The outcome of the action.
        result: ActionResult,
    },
    /// A session variable was set.
    VariableSet {
        /// The name of the variable.
        key: String,
    },
    /// A message was sent.
    Sent {
        /// The `type` of the message.
        kind: &'static str,
    },
    /// A runtime error ended the turn, or led to the error target.
    Failed {
        /// The stable code of the error.
        code: Cow<'static, str>,
    },
}

/// The outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ActionResult {
    /// The action did its work.
    Done,
    /// Its conditions did not hold.
    Skipped,
    /// The action failed; its block may go on all the same.
    Failed,
}
