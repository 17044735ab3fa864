//! The input of a turn and its outcome.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{EffectRequest, EffectResult, TraceStep};
use crate::contact::Contact;
use crate::event::{ExternalJump, HandBack};
use crate::flow::{CompiledFlow, MAX_TURN_WORK};
use crate::id::{AgentId, BlockId, FlowId, FlowVersionId, QueueId, TicketId, UserId};
use crate::message::{ContentMessage, IncomingMessage};
use crate::router::{Router, StaticVariables};
use crate::session::{FrozenError, Mode, Session};
use crate::time::Timestamp;

/// Everything around the session that a turn reads.
#[allow(missing_docs, reason = "the fields say it")]
pub struct Scene<'a> {
    /// The version on which the session stands, or the one that a new session starts.
    pub flow: Arc<CompiledFlow>,
    pub router: &'a Router,
    /// Static variables of the router and of [`Scene::flow`]. In a flow that the turn jumps to,
    /// `{{flow.*}}` is empty until the next turn: the map belongs to its own flow only (spec A 9).
    pub statics: &'a StaticVariables,
    /// The moment of execution.
    pub now: Timestamp,
    /// The flows that this one calls or jumps to.
    pub flows: &'a dyn FlowSource,
}

/// Where a turn finds flows other than the one it stands in.
pub trait FlowSource: Sync {
    /// Returns the published version of a flow, of whatever router.
    fn published(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>>;

    /// Returns a version in which a sub-flow was called.
    fn version(&self, version: &FlowVersionId) -> Option<Arc<CompiledFlow>>;
}

/// There are no other flows.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFlows;

impl FlowSource for NoFlows {
    fn published(&self, _: &FlowId) -> Option<Arc<CompiledFlow>> {
        None
    }

    fn version(&self, _: &FlowVersionId) -> Option<Arc<CompiledFlow>> {
        None
    }
}

impl fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene")
            .field("flow", self.flow.version_id())
            .field("router", &self.router.id)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// Why a turn runs.
#[derive(Debug, Clone, Copy)]
pub enum Trigger<'a> {
    /// The first message of a session: it starts the flow.
    Start(&'a IncomingMessage),
    /// A message of a session that has begun.
    Message(&'a IncomingMessage),
    /// The session begins without a message: a visitor has entered, or a tool is called, with its parameters as variables.
    Open,
    /// The timer of whatever the session waits for (rulings S7).
    InputTimeout,
    /// A redirect from outside (spec A 4.5 rule 3).
    Jump(&'a ExternalJump),
    /// The AI agent's part ended (spec B 4.9).
    AgentEnded(&'a HandBack),
    /// The human's part ended, or did not begin (spec B 3.2).
    HumanEnded(&'a HandBack),
    /// The outside request of the turn is done.
    EffectDone {
        /// The number of the request.
        seq: i64,
        /// The result of the request.
        result: &'a EffectResult,
    },
    /// The outside request of the turn failed, and is to be retried.
    EffectAgain {
        /// The number of the request.
        seq: i64,
    },
}

/// The outcome of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The session after the turn; as it was before when the turn froze it.
    pub session: Session,
    /// The contact after the turn; as it was before when the turn froze the session.
    pub contact: Contact,
    /// Whether the contact must be written.
    pub contact_changed: bool,
    /// The effects to perform outside, in order; empty when the turn froze the session.
    pub effects: Vec<Effect>,
    /// How the turn ended; it decides the next act of the caller.
    pub end: TurnEnd,
    /// The steps of the turn, also of one that froze the session.
    pub trace: Vec<TraceStep>,
    /// Units of work that the turn has used so far, of [`MAX_TURN_WORK`](crate::flow::MAX_TURN_WORK).
    pub work: u64,
    /// Why the trigger did nothing, if it did nothing.
    pub ignored: Option<&'static str>,
}

impl Outcome {
    /// Returns whether the turn, which had a short allowance, says nothing but that it needs more.
    pub fn is_cut_short(&self) -> bool {
        self.work <= MAX_TURN_WORK
            && matches!(&self.end, TurnEnd::Frozen(error) if error.code == "turn_too_long")
    }
}

/// Something that must happen outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send a message to the contact.
    Send(ContentMessage),
    /// Show that an answer is being typed.
    Typing {
        /// How long typing is shown, in milliseconds.
        millis: u64,
    },
    /// Close the chat; the session goes on.
    CloseChat,
    /// Append to the contact's opt-ins (spec A 2.4).
    OptIn {
        /// Whether it was given or revoked.
        accepted: bool,
    },
    /// Add labels to the chat.
    Tags(Vec<String>),
    /// Record an event for reports.
    Track {
        /// The name of the event, as the author wrote it.
        name: String,
        /// The details of the event, interpolated.
        properties: Map<String, Value>,
        /// The flow in which it happened.
        flow_id: FlowId,
        /// The id of the block.
        block_id: BlockId,
    },
    /// An AI agent has the session now; tell it.
    Agent {
        /// The id of the agent.
        agent_id: AgentId,
        /// Turns after which its part ends by force.
        max_messages: u32,
        /// The message of the turn, if it has one.
        messages: Vec<IncomingMessage>,
    },
    /// A human has the session now; ask the helpdesk for one.
    Human {
        /// The queue to use instead of the distribution rules.
        queue_id: Option<QueueId>,
        /// The user who gets the ticket at once.
        user_id: Option<UserId>,
        /// The session variables at the handoff.
        variables: Map<String, Value>,
    },
    /// The contact has been silent for too long at an AI agent; tell the agent (rulings S7).
    AgentInactive {
        /// The id of the agent.
        agent_id: AgentId,
        /// The AI ticket of the session, if there is one.
        ticket_id: Option<TicketId>,
        /// The epoch in which it has the session.
        epoch: i64,
    },
    /// The session was taken from an AI agent; tell the agent (rulings S14).
    AgentLost {
        /// The id of the agent.
        agent_id: AgentId,
        /// The AI ticket of the session, if there was one.
        ticket_id: Option<TicketId>,
        /// The epoch in which it had the session.
        epoch: i64,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnd {
    /// The session waits for input.
    Waiting,
    /// The session has another owner now, and waits for it.
    HandedOver(Mode),
    /// The turn goes on with the result of this request. The caller commits the turn so far, then performs the
    /// request, and comes back with [`Trigger::EffectDone`].
    Effect(Box<EffectRequest>),
    /// The session is over; the caller deletes it.
    Ended,
    /// A runtime error; the caller freezes the session (rulings S5).
    Frozen(FrozenError),
}
