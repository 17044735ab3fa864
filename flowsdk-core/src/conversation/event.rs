//! The incoming events, and the report of a turn.

use std::time::Duration;

use crate::event::{FlowEvent, IncomingEvent, Notice, OutgoingEvent};
use crate::flow::EffectRequest;
use crate::id::{FlowId, MessageId};
use crate::session::SessionId;
use crate::stream::lanes::Party;

/// An event of a session, from `stream:incoming` or `stream:flow`.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEvent {
    /// Messages of a contact, from a gateway.
    Incoming(IncomingEvent),
    /// The engine is asked for something.
    Flow(FlowEvent),
}

impl ConversationEvent {
    /// The session it is about.
    pub fn session_id(&self) -> &SessionId {
        match self {
            Self::Incoming(event) | Self::Flow(FlowEvent::Message(event)) => &event.session_id,
            Self::Flow(event) => event.session_id(),
        }
    }

    /// Returns the messages it brings.
    pub fn incoming(&self) -> Option<&IncomingEvent> {
        match self {
            Self::Incoming(event) | Self::Flow(FlowEvent::Message(event)) => Some(event),
            Self::Flow(_) => None,
        }
    }

    /// Returns the name of its `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Incoming(event) if event.is_opening() => "open",
            Self::Incoming(_) | Self::Flow(FlowEvent::Message(_)) => "message",
            Self::Flow(FlowEvent::ExternalJump(_)) => "externalJump",
            Self::Flow(FlowEvent::AgentSessionEnded(_)) => "agentSessionEnded",
            Self::Flow(FlowEvent::HumanSessionEnded(_)) => "humanSessionEnded",
            Self::Flow(FlowEvent::InputTimeout(_)) => "inputTimeout",
            Self::Flow(FlowEvent::EffectDone(_)) => "effectDone",
            Self::Flow(FlowEvent::Resume(_)) => "resume",
        }
    }

    /// Returns the other flow that it leads to.
    pub(super) fn target_flow(&self) -> Option<&FlowId> {
        match self {
            Self::Flow(event) => event.target_flow(),
            Self::Incoming(_) => None,
        }
    }

    /// Returns the event as JSON, to be kept for a frozen session.
    pub fn to_json(&self) -> serde_json::Value {
        let json = match self {
            Self::Incoming(event) => serde_json::to_value(event),
            Self::Flow(event) => serde_json::to_value(event),
        };
        json.unwrap_or_default()
    }
}

/// The outcome of one incoming message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// The id of its row: of the first one, when it came twice.
    pub id: MessageId,
    /// Whether it had been stored before.
    pub duplicate: bool,
}

/// The report of one event, after the commit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnReport {
    /// Its messages, in order. Empty when they were dropped, because no channel or contact fits.
    pub stored: Vec<StoredMessage>,
    /// The messages sent, in order.
    pub outgoing: Vec<OutgoingEvent>,
    /// What the sockets of the session are told after these messages.
    pub notices: Vec<Notice>,
    /// The request for which the turn waits, to be performed now.
    pub request: Option<EffectRequest>,
    /// Whether the session waits for something outside: the answer to its messages follows later.
    pub waits: bool,
    /// Whether an error has stopped the session, now or before.
    pub frozen: bool,
    /// For whom it was: the router of the session.
    pub party: Party,
    /// The processor time that it took beyond that of every turn, counted and not measured.
    pub cost: Duration,
}

impl TurnReport {
    /// Adds the report of the rest of the same event.
    pub(super) fn extend(&mut self, rest: Self) {
        self.outgoing.extend(rest.outgoing);
        self.notices = rest.notices;
        self.cost += rest.cost;
        (self.request, self.waits, self.frozen) = (rest.request, rest.waits, rest.frozen);
    }
}
