//! Decides one event of a batch: nothing is read or written here.

use std::collections::HashMap;

use super::facts::Facts;
use super::opening::Opened;
use super::turn::{After, Run, Stage, incoming_row};
use super::writes::Writes;
use super::{ConversationError, ConversationEvent, Handover, StoredMessage, TurnReport};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::id::{ChatId, MessageId};
use crate::message::IncomingMessage;
use crate::session::{Mode, Position, Session};
use crate::stream::broker::NewEntry;
use crate::stream::event::{FlowEvent, HelpdeskEvent, HelpdeskMessageEvent, IncomingEvent};
use crate::stream::topic::Helpdesk;
use crate::time::Timestamp;

/// Decides the events of a batch, one after the other.
pub(super) struct Decider<'a> {
    pub(super) cx: &'a OpContext,
    pub(super) now: Timestamp,
    pub(super) handover: &'a Handover,
    pub(super) facts: Facts,
    pub(super) writes: Writes,
    /// The messages of the batch so far, by their key.
    pub(super) stored: HashMap<String, MessageId>,
}

/// What the owner of a session did with an event.
enum Progress {
    /// Nothing that changes the session.
    Nothing,
    /// Something.
    Ran(Box<Run>),
}

impl Decider<'_> {
    /// Decides one event. `opened` is what a first message found, where there was no session.
    pub(super) fn decide(
        &mut self,
        event: &ConversationEvent,
        opened: Option<Opened>,
    ) -> Result<TurnReport, ConversationError> {
        let mut report = TurnReport::default();
        let (run, expected) = match (self.facts.sessions.remove(event.session_id()), opened) {
            (Some(stored), _) if stored.frozen => {
                let at = self.time_of(&stored.session);
                self.store_all(event, &stored.session.chat_id, at, &mut report);
                if event.incoming().is_none() || report.stored.iter().any(|message| !message.duplicate) {
                    self.writes.kept.push((stored.session.id, event.to_json()));
                }
                return Ok(report);
            }
            (Some(stored), _) => {
                let session = stored.session;
                let contact = self
                    .facts
                    .contacts
                    .get(&session.contact_id)
                    .cloned()
                    .ok_or_else(|| broken("its contact is not there"))?;
                let version = session.version;
                (Run::new(session, contact), Some(version))
            }
            (None, Some(Opened::Session(session, contact))) => {
                let changed = self.facts.contacts.get(&contact.id).cloned();
                (Run::new(*session, changed.unwrap_or(*contact)), None)
            }
            (None, Some(Opened::ChatOnly(chat_id))) => {
                self.store_all(event, &chat_id, self.now, &mut report);
                return Ok(report);
            }
            (None, Some(Opened::Frozen(chat_id))) => {
                self.store_all(event, &chat_id, self.now, &mut report);
                if report.stored.iter().any(|message| !message.duplicate) {
                    self.writes.kept.push((event.session_id().clone(), event.to_json()));
                }
                return Ok(report);
            }
            // A timer or a redirect of a session that has ended since has nothing to do.
            (None, Some(Opened::Dropped) | None) => return Ok(report),
        };
        if let Progress::Ran(run) = self.run(event, run, &mut report)? {
            report.outgoing.clone_from(&run.outgoing);
            if run.contact_changed {
                // Another session of the batch may be of the same contact.
                self.facts.contacts.insert(run.contact.id.clone(), run.contact.clone());
            }
            self.writes.add(event, *run, expected, self.now, self.handover);
        }
        Ok(report)
    }

    /// Gives the event to the owner of the session.
    fn run(
        &mut self,
        event: &ConversationEvent,
        run: Run,
        report: &mut TurnReport,
    ) -> Result<Progress, ConversationError> {
        match (event, run.session.mode) {
            (
                ConversationEvent::Incoming(event) | ConversationEvent::Flow(FlowEvent::Message(event)),
                mode,
            ) => {
                let at = self.time_of(&run.session);
                let fresh = self.store_fresh(event, &run.session.chat_id, at, report);
                match mode {
                    _ if fresh.is_empty() => Ok(Progress::Nothing),
                    Mode::Flow => self.answer(run, &fresh),
                    Mode::Human => Ok(self.forward(run, event, fresh)),
                    Mode::Agent => Err(ConversationError::Unsupported("a message to an AI agent")),
                }
            }
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Flow) => {
                let run = self.stage(&run.session)?.timeout(run);
                Ok(Progress::Ran(Box::new(run)))
            }
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Human) => Ok(Progress::Nothing),
            (ConversationEvent::Flow(FlowEvent::InputTimeout(_)), Mode::Agent) => {
                Err(ConversationError::Unsupported("the inactivity of an AI agent"))
            }
            // Of a session that is not frozen; a frozen one is resumed elsewhere.
            (ConversationEvent::Flow(FlowEvent::Resume(_)), _) => Ok(Progress::Nothing),
            (ConversationEvent::Flow(FlowEvent::ExternalJump(_)), _) => {
                Err(ConversationError::Unsupported("externalJump"))
            }
            (
                ConversationEvent::Flow(FlowEvent::AgentSessionEnded(_) | FlowEvent::HumanSessionEnded(_)),
                _,
            ) => Err(ConversationError::Unsupported("a hand-back")),
        }
    }

    /// The engine answers messages, one turn each.
    fn answer(&self, mut run: Run, messages: &[&IncomingMessage]) -> Result<Progress, ConversationError> {
        let stage = self.stage(&run.session)?;
        let entry = run.session.position.clone();
        for message in messages {
            if let After::Ended = run.after {
                run = restart(run, entry.clone(), stage.now);
            }
            if run.live() {
                run = stage.message(run, message);
            }
        }
        Ok(Progress::Ran(Box::new(run)))
    }

    /// The human who has the session is told.
    fn forward(&mut self, mut run: Run, event: &IncomingEvent, messages: Vec<&IncomingMessage>) -> Progress {
        run.session.last_interaction_at = self.now;
        let event = HelpdeskMessageEvent {
            session_id: event.session_id.clone(),
            chat_id: run.session.chat_id.clone(),
            router_id: run.session.router_id.clone(),
            messages: messages.into_iter().cloned().collect(),
            timestamp: self.now,
        };
        self.writes.entries.push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Message(event)));
        Progress::Ran(Box::new(run))
    }

    fn stage(&self, session: &Session) -> Result<Stage<'_>, ConversationError> {
        let router =
            self.facts.routers.get(&session.router_id).ok_or_else(|| broken("its router is not there"))?;
        Ok(Stage {
            cx: self.cx,
            now: self.time_of(session),
            flows: &self.facts.flows,
            router,
            statics: self.facts.statics_of(session),
        })
    }

    /// Clocks of two processes may differ; within a session time never goes back, so that the rows of a
    /// chat keep their order.
    fn time_of(&self, session: &Session) -> Timestamp {
        self.now.max(session.last_interaction_at)
    }

    /// Stores the messages of an event that nobody answers.
    fn store_all(
        &mut self,
        event: &ConversationEvent,
        chat_id: &ChatId,
        at: Timestamp,
        report: &mut TurnReport,
    ) {
        if let Some(event) = event.incoming() {
            self.store_fresh(event, chat_id, at, report);
        }
    }

    /// Stores the messages of an event, and gives those that were not stored before.
    fn store_fresh<'e>(
        &mut self,
        event: &'e IncomingEvent,
        chat_id: &ChatId,
        at: Timestamp,
        report: &mut TurnReport,
    ) -> Vec<&'e IncomingMessage> {
        let mut fresh = Vec::with_capacity(event.messages.len());
        for message in &event.messages {
            let key = message.dedupe_key(&event.session_id);
            // A message may come twice within a batch, too.
            let known = self.facts.duplicates.get(&key).or_else(|| self.stored.get(&key));
            if let Some(id) = known {
                report.stored.push(StoredMessage { id: id.clone(), duplicate: true });
                fresh.extend(self.facts.replaying.then_some(message));
                continue;
            }
            let id = message.internal_id.clone().unwrap_or_else(|| MessageId::generate(self.cx.ids()));
            self.writes.messages.push(incoming_row(id.clone(), &event.session_id, chat_id, message, at));
            self.stored.insert(key, id.clone());
            report.stored.push(StoredMessage { id, duplicate: false });
            fresh.push(message);
        }
        fresh
    }
}

fn broken(reason: &str) -> StorageError {
    StorageError::Corrupt { entity: "session", reason: reason.to_owned() }
}

/// A session that ended within an event begins again with the next message of the same event.
fn restart(mut run: Run, entry: Option<Position>, now: Timestamp) -> Run {
    let old = run.session;
    let mut session = Session::begin(old.id, old.router_id, old.contact_id, old.chat_id, now);
    session.position = entry.map(|position| Position { block_id: None, waiting: None, ..position });
    run.session = session;
    run.after = After::Live;
    run
}
