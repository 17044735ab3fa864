//! One turn, decided without I/O: from a session and an event to the rows and events it leads to.

use std::sync::Arc;

use super::flows::Flows;
use crate::contact::Contact;
use crate::context::OpContext;
use crate::flow::{CompiledFlow, Effect, Outcome, Scene, Trigger, TurnEnd};
use crate::id::{FlowId, MessageId};
use crate::message::{Direction, IncomingMessage, Message, MessageStatus, Sender, Source};
use crate::router::{Router, StaticVariables};
use crate::session::{FrozenError, Session};
use crate::stream::event::OutgoingEvent;
use crate::time::Timestamp;

/// The session of a turn, and what happened to it so far.
pub(super) struct Stage<'a> {
    pub(super) cx: &'a OpContext,
    /// Never before the last interaction, whatever the clock does: rows of a chat keep their order.
    pub(super) now: Timestamp,
    pub(super) flows: &'a Flows,
    pub(super) router: &'a Router,
    pub(super) statics: StaticVariables,
}

/// How a session stands after its event.
pub(super) enum After {
    /// It goes on.
    Live,
    /// It is over.
    Ended,
    /// An error stopped it.
    Frozen(FrozenError),
}

/// A session while its event is handled.
pub(super) struct Run {
    pub(super) session: Session,
    pub(super) contact: Contact,
    pub(super) contact_changed: bool,
    pub(super) close_chat: bool,
    pub(super) outgoing: Vec<OutgoingEvent>,
    pub(super) after: After,
}

impl Run {
    pub(super) fn new(session: Session, contact: Contact) -> Self {
        Self {
            session,
            contact,
            contact_changed: false,
            close_chat: false,
            outgoing: Vec::new(),
            after: After::Live,
        }
    }

    /// Whether the engine may still run.
    pub(super) fn live(&self) -> bool {
        matches!(self.after, After::Live)
    }
}

impl Stage<'_> {
    /// The engine answers one message.
    pub(super) fn message(&self, run: Run, message: &IncomingMessage) -> Run {
        let entered = run.session.position.as_ref().is_some_and(|position| position.block_id.is_some());
        let trigger = if entered { Trigger::Message(message) } else { Trigger::Start(message) };
        self.step(run, trigger)
    }

    /// The wait for input may have run out.
    pub(super) fn timeout(&self, run: Run) -> Run {
        self.step(run, Trigger::InputTimeout)
    }

    fn step(&self, mut run: Run, trigger: Trigger<'_>) -> Run {
        let Some(flow) = self.flow_of(&run.session) else {
            run.after = After::Frozen(FrozenError {
                code: "flow_missing".to_owned(),
                message: "the flow version of the session is not there or does not compile".to_owned(),
            });
            return run;
        };
        let published = |id: &FlowId| -> Option<Arc<CompiledFlow>> { self.flows.published(id).cloned() };
        let scene =
            Scene { flow, router: self.router, statics: &self.statics, now: self.now, flows: &published };
        let epoch = run.session.epoch;
        let Outcome { session, contact, contact_changed, effects, end, .. } =
            crate::flow::run(&scene, run.session, run.contact, trigger);
        run.session = session;
        run.contact = contact;
        run.contact_changed |= contact_changed;
        let mut typing_ms = None;
        for effect in effects {
            match effect {
                Effect::Send(content) => run.outgoing.push(OutgoingEvent {
                    internal_id: MessageId::generate(self.cx.ids()),
                    chat_id: Some(run.session.chat_id.clone()),
                    phone_number_id: run.session.id.phone_number_id().to_owned(),
                    to: run.session.id.party().to_owned(),
                    session_id: run.session.id.clone(),
                    source: Source::Flow,
                    sender: Sender::FLOW,
                    content,
                    epoch,
                    timestamp: self.now,
                    typing_ms: typing_ms.take(),
                    ig_comment_target: None,
                }),
                Effect::Typing { millis } => typing_ms = Some(typing_ms.unwrap_or(0) + millis),
                Effect::CloseChat => run.close_chat = true,
            }
        }
        run.after = match end {
            TurnEnd::Waiting => After::Live,
            TurnEnd::Ended => After::Ended,
            TurnEnd::Frozen(error) => After::Frozen(error),
        };
        run
    }

    fn flow_of(&self, session: &Session) -> Option<Arc<CompiledFlow>> {
        self.flows.version(&session.position.as_ref()?.version_id).cloned()
    }
}

/// The row of an incoming message.
pub(super) fn incoming_row(
    id: MessageId,
    session: &crate::session::SessionId,
    chat_id: &crate::id::ChatId,
    message: &IncomingMessage,
    now: Timestamp,
) -> Message {
    Message {
        id,
        chat_id: chat_id.clone(),
        session_id: session.clone(),
        direction: Direction::In,
        kind: message.content.kind().to_owned(),
        content: serde_json::to_value(&message.content).unwrap_or_default(),
        sender: None,
        status: None,
        channel_message_id: Some(message.dedupe_key(session)),
        created_at: now,
        status_updated_at: now,
    }
}

/// The row of an outgoing message. It begins as `pending` (spec A 3.1), or as `sent` where the commit
/// itself hands it over.
pub(super) fn outgoing_row(
    event: &OutgoingEvent,
    chat_id: &crate::id::ChatId,
    status: MessageStatus,
) -> Message {
    Message {
        id: event.internal_id.clone(),
        chat_id: chat_id.clone(),
        session_id: event.session_id.clone(),
        direction: Direction::Out,
        kind: event.content.kind().to_owned(),
        content: serde_json::to_value(&event.content).unwrap_or_default(),
        sender: Some(event.sender.clone()),
        status: Some(status),
        channel_message_id: None,
        created_at: event.timestamp,
        status_updated_at: event.timestamp,
    }
}
