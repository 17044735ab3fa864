//! The steps of a turn, for operators and the simulator.

mod excerpt;
mod text;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::flow::CompiledFlow;
use crate::id::{BlockId, FlowId, MessageId};
use crate::message::{ContentMessage, IncomingMessage};
use crate::session::Mode;

pub(super) use excerpt::{of_text, of_value};

/// One step. Texts and values are cut after 200 characters, and may hold the values of static variables: whoever shows
/// them to others hides those.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TraceStep {
    /// A message of the contact is handled.
    Received {
        /// The `type` of the message.
        kind: String,
        /// The text of the message, or the title of the button or row that was tapped.
        text: String,
        /// The id of the stored message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
    },
    /// The turn begins in a flow.
    InFlow(FlowStep),
    /// The turn went on in another flow.
    FlowEntered(FlowStep),
    /// A sub-flow ended, and the turn went on in the flow that called it.
    FlowReturned(FlowStep),
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
        kind: Cow<'static, str>,
        /// Method and server of a request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// A request or script is done.
    OutsideDone {
        /// The status of the answer, `script`, or the code of the failure.
        outcome: String,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How long it took, in milliseconds, without the time it waited for its place; absent where nobody measured it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
    },
    /// No result came, and the action is done again.
    Repeated {
        /// The `type` of the action.
        kind: Cow<'static, str>,
    },
    /// A block was entered.
    BlockEntered {
        /// The id of the block.
        block_id: BlockId,
        /// Its title, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
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
        /// The title of the output that held, or its conditions in short words.
        #[serde(default)]
        when: String,
    },
    /// No output held, and the default one was taken.
    DefaultOutput,
    /// An action ran, or was skipped.
    Action {
        /// The `type` of the action.
        kind: Cow<'static, str>,
        /// The outcome of the action.
        result: ActionResult,
        /// The code of its failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Cow<'static, str>>,
    },
    /// A session variable was set.
    VariableSet {
        /// The name of the variable.
        key: String,
        /// Its value; of a list or object of more than 200 bytes, the number of its entries.
        #[serde(default)]
        value: Value,
    },
    /// The contact was changed.
    ContactSet {
        /// `name`, or `variables.` and the key of the variable.
        field: String,
        /// The value.
        value: Value,
    },
    /// A message was sent.
    Sent {
        /// The `type` of the message.
        kind: Cow<'static, str>,
        /// The text of the message, with the titles of its buttons or rows.
        #[serde(default)]
        text: String,
    },
    /// A runtime error ended the turn, or led to the error target.
    Failed {
        /// The stable code of the error.
        code: Cow<'static, str>,
        /// The message of the error.
        #[serde(default)]
        message: String,
    },
    /// Steps that were left out.
    LeftOut {
        /// How many there were.
        count: usize,
    },
}

/// A flow in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowStep {
    /// The id of the flow.
    pub flow_id: FlowId,
    /// The name of the flow.
    #[serde(default)]
    pub name: String,
    /// The number of the version that runs; negative for a test version.
    #[serde(default)]
    pub version: i64,
}

/// The outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ActionResult {
    /// The action did its work.
    Done,
    /// Its conditions did not hold.
    Skipped,
    /// The action failed; its block may go on all the same.
    Failed,
}

impl FlowStep {
    pub(super) fn of(flow: &CompiledFlow) -> Self {
        Self { flow_id: flow.flow_id().clone(), name: flow.name().to_owned(), version: flow.number() }
    }
}

impl TraceStep {
    pub(super) fn received(message: &IncomingMessage) -> Self {
        Self::Received {
            kind: message.content.kind().to_owned(),
            text: of_text(message.content.as_text()),
            message_id: message.internal_id.clone(),
        }
    }

    pub(super) fn sent(message: &ContentMessage) -> Self {
        Self::Sent { kind: message.kind().into(), text: of_text(&message.summary()) }
    }

    /// Rewrites the texts in it that come from a conversation or from outside.
    pub(crate) fn rewrite(&mut self, rewrite: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Received { text, .. }
            | Self::Sent { text, .. }
            | Self::Suspended { target: Some(text), .. }
            | Self::OutsideDone { message: Some(text), .. }
            | Self::Failed { message: text, .. } => rewrite(text),
            Self::VariableSet { value, .. } | Self::ContactSet { value, .. } => {
                excerpt::rewrite(value, rewrite);
            }
            _ => {}
        }
    }
}
