//! Decides one event of a batch: nothing is read or written here.

use std::collections::HashMap;

use super::ahead::{follow, lead};
use super::cost::cost_of;
use super::facts::Facts;
use super::fallback::Unsaid;
use super::opening::{Attended, Opened};
use super::rehearsal::{Rehearsal, Rehearsed};
use super::rows::incoming_row;
use super::traced::{outside_done, storable};
use super::turn::{After, Run, Stage};
use super::writes::{Publication, Writes};
use super::{ConversationError, ConversationEvent, Handover, StoredMessage, TurnReport};
use crate::chat::Chat;
use crate::contact::{ContactOptIn, OptInSource, OptInStatus};
use crate::context::OpContext;
use crate::event::{FlowEvent, IncomingEvent, Notice, NoticeKind, ReadReceipt};
use crate::fault::StorageError;
use crate::flow::{EffectRequest, Trigger};
use crate::id::{ChatId, ContactId, MessageId, RouterId};
use crate::media::{MediaFile, MediaId};
use crate::message::{IncomingMessage, SenderKind};
use crate::router::Fallback;
use crate::session::{Channel, MAX_DEFERRED, Mode, Position, Session, SessionId};
use crate::stream::broker::NewEntry;
use crate::stream::lanes::Party;
use crate::stream::topic::ReadReceipts;
use crate::time::Timestamp;

/// Decides the events of a batch, one after the other.
pub(super) struct Decider<'a> {
    pub(super) cx: &'a OpContext,
    pub(super) now: Timestamp,
    pub(super) handover: &'a Handover,
    pub(super) has_outside: bool,
    pub(super) facts: Facts,
    pub(super) writes: Writes,
    /// The part of the latest event that came after the end of its session, and belongs to another session.
    pub(super) left: Option<IncomingEvent>,
    /// The contact of the latest event, if they are to be told why nothing else answers.
    pub(super) unsaid: Option<Unsaid>,
    /// Turns that are decided already, and what the others may take.
    pub(super) rehearsed: &'a Rehearsed,
    pub(super) allowance: u64,
    /// Turns that take longer. While there is one, nothing of the batch is place.
    pub(super) long: Vec<Rehearsal>,
    /// The messages of the batch so far, by their key.
    pub(super) stored: HashMap<String, MessageId>,
}

/// The result of an event at the owner of a session.
enum Progress {
    /// Nothing that changes the session.
    Nothing,
    /// A turn ran, and has effects.
    Ran(Box<Run>),
}

impl Decider<'_> {
    /// Decides one event. `opened` is the finding of a first message, where there was no session.
    pub(super) fn decide(
        &mut self,
        event: &ConversationEvent,
        opened: Option<Opened>,
    ) -> Result<TurnReport, ConversationError> {
        let mut report = TurnReport::default();
        let (run, expected, ahead) = match (self.facts.sessions.remove(event.session_id()), opened) {
            (Some(stored), _) if stored.frozen => {
                let at = self.time_of(&stored.session);
                report.frozen = true;
                self.keep(event, ChatContext::of_session(&stored.session), at, stored.ahead, &mut report);
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
                // Entries of a replay came before them.
                let ahead = if self.facts.replaying { Vec::new() } else { stored.ahead };
                (Run::new(session, contact), Some(version), ahead)
            }
            (None, Some(Opened::Session(session, contact))) => {
                let changed = self.facts.contacts.get(&contact.id).cloned();
                (Run::new(*session, changed.unwrap_or(*contact)), None, Vec::new())
            }
            (None, Some(Opened::Attended(attended))) => {
                let Attended { session, contact, queue_id, user_id } = *attended;
                let changed = self.facts.contacts.get(&contact.id).cloned();
                let mut run = Run::new(session, changed.unwrap_or(contact));
                run.attend(queue_id, user_id, self.now);
                (run, None, Vec::new())
            }
            (None, Some(Opened::ChatOnly(chat))) => {
                let channel = event.session_id().phone_number_id();
                tracing::warn!(
                    channel,
                    "nobody answers: neither the channel nor its router has a published flow"
                );
                metrics::counter!("flowsdk_incoming_unanswered").increment(1);
                self.store_all(event, ChatContext::of_chat(&chat), self.now, &mut report);
                if report.stored.iter().any(|stored| !stored.duplicate) {
                    self.unsaid = Some(Unsaid::unanswered(event.session_id().clone(), chat.id));
                }
                return Ok(report);
            }
            (None, Some(Opened::Frozen(chat))) => {
                report.frozen = true;
                self.keep(event, ChatContext::of_chat(&chat), self.now, Vec::new(), &mut report);
                return Ok(report);
            }
            // A timer or a redirect of a session that has ended since has nothing to do.
            (None, Some(Opened::Dropped) | None) => return Ok(report),
        };
        let mut run = run;
        if let Some(incoming) = event.incoming()
            && incoming.names_contact()
            && run.contact.follow_profile(&incoming.contact_name)
        {
            run.contact_changed = true;
        }
        let mode = run.session.mode;
        if let Progress::Ran(mut run) = self.run(event, run, ahead, &mut report)? {
            if let Some(long) = run.long.take() {
                self.long.push(*long);
                return Ok(report);
            }
            for event in &mut run.outgoing {
                // The epoch of the session as it is committed: a change of owner in this turn does not make earlier
                // messages stale.
                event.epoch = run.session.epoch;
            }
            report.outgoing.clone_from(&run.outgoing);
            report.request = run.request.take().filter(|_| !run.is_frozen());
            report.frozen = run.is_frozen();
            // A session that is resumed was told when it froze.
            if run.is_frozen() && !self.facts.replaying {
                self.unsaid = Some(Unsaid::of(&run.session, Fallback::Failed));
            }
            report.notices = notices(&run, mode, report.request.as_ref(), self.now);
            report.party = Party::of(&run.session.router_id);
            report.cost = cost_of(&run);
            report.waits = run.session.pending.is_some() && !run.is_frozen();
            let left = std::mem::take(&mut run.left);
            if !left.is_empty() {
                self.left = Some(self.event_of(event, &run, left));
            }
            if run.contact_changed {
                // Another session of the batch may be of the same contact.
                self.facts.contacts.insert(run.contact.id.clone(), run.contact.clone());
            }
            if run.traced || run.is_frozen() {
                let steps = std::mem::take(&mut run.trace);
                run.trace = storable(steps, &self.facts.statics_of(&run.session));
            }
            let stopped_at = run.stopped_at.take().map(ConversationEvent::Flow);
            let cause = stopped_at.as_ref().unwrap_or(event);
            self.writes.add(cause, *run, (expected, mode), self.now, self.handover);
            self.writes.notify(&report.notices, self.handover);
        }
        Ok(report)
    }

    /// Passes the events ahead of it, and then the event, to the owner of the session.
    fn run(
        &mut self,
        event: &ConversationEvent,
        run: Run,
        ahead: Vec<FlowEvent>,
        report: &mut TurnReport,
    ) -> Result<Progress, ConversationError> {
        let led = (!ahead.is_empty()).then(|| run.session.id.clone());
        let flow_event = match event {
            ConversationEvent::Incoming(incoming) | ConversationEvent::Flow(FlowEvent::Message(incoming)) => {
                let at = self.time_of(&run.session);
                let place = self.writes.messages.len();
                let mut fresh = self.store_fresh(incoming, ChatContext::of_session(&run.session), at, report);
                fresh.retain(|message| message.content.is_said());
                self.acknowledge(&run.session, &fresh);
                let opens = incoming.is_opening() && is_at_the_beginning(&run.session);
                if self.facts.replaying {
                    if is_deferred(&run.session, incoming) {
                        fresh.clear();
                    }
                } else if fresh.is_empty() && !opens {
                    return Ok(Progress::Nothing);
                }
                let fresh: Vec<IncomingMessage> = fresh.into_iter().cloned().collect();
                let stage = self.stage(&run.session)?;
                if opens {
                    return Ok(Progress::Ran(Box::new(stage.open(run))));
                }
                let (mut run, rest) = lead(&stage, run, ahead);
                run.said_before = (run.outgoing.len(), place);
                if run.stopped_at.is_some() {
                    self.writes.led.extend(led);
                    self.keep_ahead(event, rest);
                    self.keep_messages(event, fresh);
                    return Ok(Progress::Ran(Box::new(run)));
                }
                let run = deliver(&stage, run, fresh);
                self.writes.led.extend(led);
                return Ok(Progress::Ran(Box::new(run)));
            }
            ConversationEvent::Flow(event) => event,
        };
        let trigger = match flow_event {
            FlowEvent::InputTimeout(_) if run.session.mode == Mode::Human => return Ok(Progress::Nothing),
            // Handled above, with the messages of the other stream; and elsewhere, in commits of its own.
            FlowEvent::Message(_) | FlowEvent::Resume(_) => return Ok(Progress::Nothing),
            FlowEvent::InputTimeout(_) => Trigger::InputTimeout,
            FlowEvent::ExternalJump(jump) => {
                if run.session.mode == Mode::Human {
                    // The API refuses it with 409 (spec A 4.5 rule 4); this one lost a race with a handover.
                    tracing::warn!(session = %run.session.id, "a session that a human has is not redirected");
                }
                Trigger::Jump(jump)
            }
            FlowEvent::AgentSessionEnded(event) => Trigger::AgentEnded(event),
            FlowEvent::HumanSessionEnded(event) => Trigger::HumanEnded(event),
            // An operator who resumes a session wants the failed request retried, perhaps as it is published now.
            FlowEvent::EffectDone(event) if self.facts.replaying && event.result.is_failure() => {
                Trigger::EffectAgain { seq: event.seq }
            }
            FlowEvent::EffectDone(event) => Trigger::EffectDone { seq: event.seq, result: &event.result },
        };
        let stage = self.stage(&run.session)?;
        let (run, rest) = lead(&stage, run, ahead);
        if let Some(stopped_at) = &run.stopped_at {
            let is_known = flow_event == stopped_at || rest.contains(flow_event) || flow_event.stands_ahead();
            self.writes.led.extend(led);
            self.keep_ahead(event, rest);
            if !is_known {
                self.writes.kept_events.push((event.session_id().clone(), event.to_json()));
            }
            return Ok(Progress::Ran(Box::new(run)));
        }
        let is_over = matches!(run.after, After::Ended);
        let ignored = match trigger {
            Trigger::InputTimeout => None,
            // A kept one has left its place ahead.
            _ if flow_event.stands_ahead() && !self.facts.replaying => Some("followed from its session"),
            _ => stage.ignored(&run.session, &trigger),
        };
        let run = match ignored {
            Some(reason) => {
                tracing::info!(session = %run.session.id, reason, "an event does nothing");
                if led.is_none() {
                    return Ok(Progress::Nothing);
                }
                run
            }
            None if is_over => run,
            None => {
                let mut run = run;
                if let (FlowEvent::EffectDone(event), Trigger::EffectDone { .. }) = (flow_event, &trigger) {
                    run.trace.push(outside_done(event));
                }
                follow(&stage, run, trigger)
            }
        };
        let run = deliver(&stage, run, Vec::new());
        self.writes.led.extend(led);
        Ok(Progress::Ran(Box::new(run)))
    }

    /// Returns an event of the messages for which their session ended too soon. Those that this batch would store
    /// are taken out: they go to the chat of the session that they begin.
    fn event_of(
        &mut self,
        event: &ConversationEvent,
        run: &Run,
        mut left: Vec<IncomingMessage>,
    ) -> IncomingEvent {
        let session = &run.session;
        for message in &mut left {
            if let Some(id) = self.stored.remove(&message.dedupe_key(&session.id)) {
                self.writes.messages.retain(|row| row.id != id);
                self.writes.records.forget(&id);
                message.internal_id = Some(id);
            }
        }
        match event.incoming() {
            Some(event) => IncomingEvent { messages: left, ..event.clone() },
            None => IncomingEvent {
                channel_type: session.id.channel(),
                session_id: session.id.clone(),
                phone_number_id: session.id.phone_number_id().to_owned(),
                from: Some(session.id.party().to_owned()),
                aliases: Vec::new(),
                contact_name: run.contact.name.clone(),
                messages: left,
                timestamp: self.now,
                context: None,
                flow_id: None,
                opened_after: None,
            },
        }
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
            has_outside: self.has_outside,
            rehearsed: self.rehearsed,
            allowance: self.allowance,
        })
    }

    /// Clocks of two processes may differ; within a session time never goes back, so that its waits never grow.
    fn time_of(&self, session: &Session) -> Timestamp {
        self.now.max(session.last_interaction_at)
    }

    /// Stores the messages of an event for a frozen session, and keeps it for the resumption, without its earlier
    /// part. The events ahead of it are kept before it.
    fn keep(
        &mut self,
        event: &ConversationEvent,
        place: ChatContext<'_>,
        at: Timestamp,
        ahead: Vec<FlowEvent>,
        report: &mut TurnReport,
    ) {
        let led = (!ahead.is_empty()).then(|| event.session_id().clone());
        let Some(incoming) = event.incoming() else {
            // One that stands there no more was kept before, or handled.
            let is_known = matches!(event, ConversationEvent::Flow(event) if event.stands_ahead() || ahead.contains(event));
            self.keep_ahead(event, ahead);
            self.writes.led.extend(led);
            if !is_known {
                self.writes.kept_events.push((event.session_id().clone(), event.to_json()));
            }
            return;
        };
        let fresh: Vec<IncomingMessage> =
            self.store_fresh(incoming, place, at, report).into_iter().cloned().collect();
        if !fresh.is_empty() {
            self.keep_ahead(event, ahead);
            self.writes.led.extend(led);
            self.keep_messages(event, fresh);
        }
    }

    /// Keeps events that stand ahead of `event` for the resumption.
    fn keep_ahead(&mut self, event: &ConversationEvent, ahead: Vec<FlowEvent>) {
        let kept = ahead
            .into_iter()
            .map(|ahead| (event.session_id().clone(), ConversationEvent::Flow(ahead).to_json()));
        self.writes.kept_ahead.extend(kept);
    }

    /// Keeps the messages of an event that were not stored before.
    fn keep_messages(&mut self, event: &ConversationEvent, fresh: Vec<IncomingMessage>) {
        let mut kept = event.clone();
        if let ConversationEvent::Incoming(event) | ConversationEvent::Flow(FlowEvent::Message(event)) =
            &mut kept
        {
            event.messages = fresh;
        }
        self.writes.kept.push((event.session_id().clone(), kept.to_json()));
    }

    /// Stores the messages of an event that nobody answers.
    fn store_all(
        &mut self,
        event: &ConversationEvent,
        place: ChatContext<'_>,
        at: Timestamp,
        report: &mut TurnReport,
    ) {
        if let Some(event) = event.incoming() {
            self.store_fresh(event, place, at, report);
        }
    }

    /// Stores the messages of an event, and returns those that were not stored before.
    fn store_fresh<'e>(
        &mut self,
        event: &'e IncomingEvent,
        place: ChatContext<'_>,
        at: Timestamp,
        report: &mut TurnReport,
    ) -> Vec<&'e IncomingMessage> {
        let mut fresh = Vec::with_capacity(event.messages.len());
        if let Some(router) = place.router {
            self.writes.routers.insert(place.chat.clone(), router.clone());
        }
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
            self.writes.messages.push(incoming_row(id.clone(), &event.session_id, place.chat, message, at));
            let channel = event.session_id.channel();
            self.extend_window(channel, place.chat, message, at);
            if channel == Channel::Phone {
                self.note_opt_out(place, message, at);
            }
            self.note_file(&event.session_id, place, message, &id, at);
            self.stored.insert(key, id.clone());
            report.stored.push(StoredMessage { id, duplicate: false });
            fresh.push(message);
        }
        fresh
    }

    /// Extends the window in which the contact of a message can be answered.
    fn extend_window(&mut self, channel: Channel, chat: &ChatId, message: &IncomingMessage, at: Timestamp) {
        let Some(window) = channel.capabilities().window else { return };
        // A delivery may be days late.
        let ends_at = message.sent_at.map_or(at, |sent_at| sent_at.min(at)) + window;
        let known = self.writes.windows.entry(chat.clone()).or_insert(ends_at);
        *known = ends_at.max(*known);
    }

    /// Notes that a contact wants no more offers, if a message says so in the words of its router.
    fn note_opt_out(&mut self, place: ChatContext<'_>, message: &IncomingMessage, at: Timestamp) {
        let Some(router) = place.router.and_then(|router| self.facts.routers.get(router)) else { return };
        if router.phone.is_opt_out(message.content.as_text()) {
            self.writes.records.opt_ins.push(ContactOptIn {
                id: self.cx.ids().next_id(),
                contact_id: place.contact.clone(),
                router_id: router.id.clone(),
                status: OptInStatus::Revoked,
                chat_id: Some(place.chat.clone()),
                source: OptInSource::Contact,
                recorded_at: at,
            });
        }
    }

    /// Notes the file that a message brings: one of a provider is to be fetched, one of a visitor is here.
    fn note_file(
        &mut self,
        session: &SessionId,
        place: ChatContext<'_>,
        message: &IncomingMessage,
        id: &MessageId,
        at: Timestamp,
    ) {
        let (Some((kind, told)), Some(router)) = (message.content.file(), place.router) else { return };
        let records = &mut self.writes.records;
        match session.channel() {
            Channel::Phone => {
                let from = (id.clone(), session.clone());
                records.files.push(MediaFile::received(self.cx, router.clone(), from, (kind, told), at));
            }
            Channel::Webchat => {
                records.attached.extend(MediaId::parse(told.id.clone()).ok().map(|file| (file, id.clone())));
            }
            Channel::Social => {}
        }
    }

    /// Lets the contact see that the flow or the agent has taken these messages, where the router wants it.
    fn acknowledge(&mut self, session: &Session, taken: &[&IncomingMessage]) {
        let Some(last) = taken.last() else { return };
        let Some(options) = self.facts.routers.get(&session.router_id).map(|router| &router.phone) else {
            return;
        };
        let is_wanted = options.read_receipts || options.typing_indicator;
        // A human has read what they open.
        let is_taken = session.mode != Mode::Human && !self.facts.replaying;
        if session.id.channel() == Channel::Phone && is_wanted && is_taken {
            let receipt = ReadReceipt {
                session_id: session.id.clone(),
                channel_message_id: last.id.clone(),
                is_typing: options.typing_indicator,
                timestamp: self.now,
            };
            self.writes.publications.push(Publication::Entry(NewEntry::of::<ReadReceipts>(&receipt)));
        }
    }
}

/// Where messages were place.
#[derive(Clone, Copy)]
struct ChatContext<'a> {
    chat: &'a ChatId,
    contact: &'a ContactId,
    router: Option<&'a RouterId>,
}

impl<'a> ChatContext<'a> {
    /// In the chat of a session.
    fn of_session(session: &'a Session) -> Self {
        Self { chat: &session.chat_id, contact: &session.contact_id, router: Some(&session.router_id) }
    }

    /// In a chat without a session that runs.
    fn of_chat(chat: &'a Chat) -> Self {
        Self { chat: &chat.id, contact: &chat.contact_id, router: chat.router_id.as_ref() }
    }
}

fn broken(reason: &str) -> StorageError {
    StorageError::Corrupt { entity: "session", reason: reason.to_owned() }
}

/// Passes the waiting messages, then `fresh` ones, to the owner of the session, one by one, in order. They wait
/// while a turn waits for something outside, and while an error stops the session, the one at which it stopped
/// first. Where the session ended on the way, the others are left.
fn deliver(stage: &Stage<'_>, mut run: Run, fresh: Vec<IncomingMessage>) -> Run {
    let mut messages = std::mem::take(&mut run.session.deferred).into_iter().chain(fresh);
    while let Some(message) = messages.next() {
        if let After::Ended = run.after {
            run.left = std::iter::once(message).chain(messages).collect();
            break;
        }
        let waits = run.session.pending.is_some() || run.is_frozen();
        match run.session.mode {
            Mode::Flow if !waits => {
                run = stage.message(run, &message);
                if !run.is_frozen() {
                    continue;
                }
                defer(&mut run.session, std::iter::once(message).chain(messages));
            }
            _ if waits => defer(&mut run.session, std::iter::once(message).chain(messages)),
            Mode::Agent => stage.to_agent(&mut run, std::iter::once(message).chain(messages).collect()),
            Mode::Human | Mode::Flow => {
                stage.to_human(&mut run, std::iter::once(message).chain(messages).collect());
            }
        }
        break;
    }
    run
}

/// Returns what the sockets of a session are told after a turn before which it had this `mode`.
fn notices(run: &Run, mode: Mode, request: Option<&EffectRequest>, now: Timestamp) -> Vec<Notice> {
    let session = &run.session;
    if session.id.channel() != Channel::Webchat {
        return Vec::new();
    }
    let turned = match run.after {
        After::Ended => Some(NoticeKind::Session { mode: None }),
        After::Live | After::Frozen(_) => {
            (session.mode != mode).then_some(NoticeKind::Session { mode: Some(session.mode) })
        }
    };
    let typing = request.map(|request| NoticeKind::typing(SenderKind::Flow, now, request.deadline));
    turned
        .into_iter()
        .chain(typing)
        .map(|kind| Notice { session_id: session.id.clone(), timestamp: now, kind })
        .collect()
}

/// Returns whether the flow of a session has not begun.
fn is_at_the_beginning(session: &Session) -> bool {
    let has_not_entered = |position: &Position| position.block_id.is_none() && position.waiting.is_none();
    session.mode == Mode::Flow
        && session.pending.is_none()
        && session.position.as_ref().is_some_and(has_not_entered)
}

/// Returns whether the session stopped at `event`: its unanswered messages wait in the session.
fn is_deferred(session: &Session, event: &IncomingEvent) -> bool {
    let key = |message: &IncomingMessage| message.dedupe_key(&session.id);
    session.deferred.iter().any(|waiting| event.messages.iter().any(|sent| key(sent) == key(waiting)))
}

/// Keeps messages until the session goes on.
fn defer(session: &mut Session, messages: impl Iterator<Item = IncomingMessage>) {
    for message in messages {
        if session.deferred.len() < MAX_DEFERRED {
            session.deferred.push(message);
        } else {
            tracing::warn!(session = %session.id, "a message is stored, but too many wait to be answered");
        }
    }
}
