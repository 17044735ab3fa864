//! What a turn is given and what it answers.

use std::fmt;
use std::sync::Arc;

use crate::contact::Contact;
use crate::flow::CompiledFlow;
use crate::flow::engine::TraceStep;
use crate::id::FlowId;
use crate::message::{ContentMessage, IncomingMessage};
use crate::router::{Router, StaticVariables};
use crate::session::{FrozenError, Session};
use crate::time::Timestamp;

/// Everything around the session that a turn reads.
pub struct Scene<'a> {
    /// The version on which the session stands, or the one that a new session starts.
    pub flow: Arc<CompiledFlow>,
    /// The router.
    pub router: &'a Router,
    /// Static variables of the router and of [`Scene::flow`]. In a flow that the turn jumps to,
    /// `{{flow.*}}` is empty until the next turn: the map belongs to its own flow only (spec A 9).
    pub statics: &'a StaticVariables,
    /// The moment of execution.
    pub now: Timestamp,
    /// The published version of another flow of the router.
    pub flows: &'a dyn Fn(&FlowId) -> Option<Arc<CompiledFlow>>,
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
    /// A later message.
    Message(&'a IncomingMessage),
    /// The timer of the session's wait for input (rulings S7).
    InputTimeout,
}

/// What a turn did.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The session after the turn; as it was before when the turn froze it.
    pub session: Session,
    /// The contact after the turn; as it was before when the turn froze the session.
    pub contact: Contact,
    /// Whether the contact must be written.
    pub contact_changed: bool,
    /// What must happen outside, in order; empty when the turn froze the session.
    pub effects: Vec<Effect>,
    /// How it ended.
    pub end: TurnEnd,
    /// What happened on the way, also in a turn that froze the session.
    pub trace: Vec<TraceStep>,
}

/// Something that must happen outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send a message.
    Send(ContentMessage),
    /// Show that an answer is being typed.
    Typing {
        /// For how long.
        millis: u64,
    },
    /// Close the chat.
    CloseChat,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The session waits for input.
    Waiting,
    /// The session is over; the caller deletes it.
    Ended,
    /// A runtime error; the caller freezes the session (rulings S5).
    Frozen(FrozenError),
}
