//! The writes of a batch: gathered while it is decided, written at once.

use std::collections::{BTreeMap, HashMap};

use super::records::Records;
use super::say::{entry_of, row_of};
use super::traced::Stopped;
use super::turn::{After, Run};
use super::{ConversationEvent, ConversationTx, Handover};
use crate::contact::Contact;
use crate::event::{
    Notice, OutgoingEvent, SummaryReason, SummaryRequest, WebhookEvent, WebhookEventType, of_session,
};
use crate::fault::StorageError;
use crate::id::{ChatId, ContactId, MessageId, RouterId};
use crate::message::NewMessage;
use crate::session::{FrozenSession, MAX_KEPT, Mode, Session, SessionId, SessionTrace, SessionWrite};
use crate::stream::announce::{announce, announce_messages};
use crate::stream::broker::NewEntry;
use crate::stream::topic::Summary;
use crate::time::Timestamp;

/// Everything to be written for a batch.
#[derive(Default)]
pub(super) struct Writes {
    pub(super) messages: Vec<NewMessage>,
    /// The routers of the chats that messages are in, where they are known.
    pub(super) routers: HashMap<ChatId, RouterId>,
    /// Sessions that began, before their messages.
    pub(super) began: Vec<WebhookEvent>,
    /// Sessions that ended or have another owner, after their messages.
    pub(super) turned: Vec<WebhookEvent>,
    /// Sessions with the version they were read with; `None` for new ones.
    pub(super) sessions: Vec<(Session, Option<i64>)>,
    pub(super) ended: Vec<SessionId>,
    /// In ascending order, in which their rows are locked.
    pub(super) contacts: BTreeMap<ContactId, Contact>,
    pub(super) closed_chats: Vec<ChatId>,
    /// When the windows of chats end that a contact wrote in.
    pub(super) windows: BTreeMap<ChatId, Timestamp>,
    pub(super) frozen: Vec<FrozenSession>,
    /// Events that stood ahead of the next one of a frozen session.
    pub(super) kept_ahead: Vec<(SessionId, serde_json::Value)>,
    /// Sessions whose events ahead are handled, or kept.
    pub(super) led: Vec<SessionId>,
    /// Messages to frozen sessions.
    pub(super) kept: Vec<(SessionId, serde_json::Value)>,
    /// Other events of frozen sessions.
    pub(super) kept_events: Vec<(SessionId, serde_json::Value)>,
    pub(super) publications: Vec<Publication>,
    pub(super) records: Records,
    pub(super) traces: Vec<SessionTrace>,
}

/// An event for a stream.
pub(super) enum Publication {
    Entry(NewEntry),
    /// A message of this batch, which is published with its number.
    Message(Box<OutgoingEvent>),
}

impl Writes {
    /// Adds the writes of a run, before which its session had this `mode`.
    pub(super) fn add(
        &mut self,
        event: &ConversationEvent,
        run: Run,
        (expected, mode): (Option<i64>, Mode),
        now: Timestamp,
        handover: &Handover,
    ) {
        let Run {
            mut session,
            contact,
            contact_changed,
            close_chat,
            outgoing,
            said_before: (said_before, place),
            entries,
            records,
            trace,
            traced,
            after,
            ..
        } = run;
        self.routers.insert(session.chat_id.clone(), session.router_id.clone());
        let happened = |kind| of_session(kind, &session, now);
        if expected.is_none() {
            self.began.push(happened(WebhookEventType::SessionStarted));
        }
        if matches!(after, After::Ended) {
            self.turned.push(happened(WebhookEventType::SessionEnded));
        } else if session.mode != mode {
            self.turned.push(happened(WebhookEventType::SessionOwnerChanged));
        }
        for (nth, event) in outgoing.into_iter().enumerate() {
            let at = if nth < said_before { place + nth } else { self.messages.len() };
            self.say_at(at, event, &session.chat_id, handover);
        }
        // After the messages: the next owner of the session speaks after them.
        self.publications.extend(entries.into_iter().map(Publication::Entry));
        self.records.extend(records);
        if contact_changed {
            self.contacts.insert(contact.id.clone(), contact);
        }
        if close_chat {
            self.closed_chats.push(session.chat_id.clone());
            let request = SummaryRequest {
                chat_id: session.chat_id.clone(),
                ticket_id: None,
                contact_id: session.contact_id.clone(),
                reason: SummaryReason::ChatClosed,
                timestamp: now,
            };
            self.publications.push(Publication::Entry(NewEntry::of::<Summary>(&request)));
        }
        if let Some(version) = expected {
            session.version = version + 1;
        }
        if !trace.is_empty() && (traced || matches!(after, After::Frozen(_))) {
            self.traces.push(SessionTrace {
                session_id: session.id.clone(),
                router_id: Some(session.router_id.clone()),
                contact_id: Some(session.contact_id.clone()),
                version: session.version,
                event: event.kind().to_owned(),
                steps: serde_json::to_value(&trace).unwrap_or_default(),
                created_at: now,
            });
        }
        match after {
            After::Live => self.sessions.push((session, expected)),
            After::Ended if expected.is_some() => self.ended.push(session.id),
            After::Ended => {}
            After::Frozen(error) => {
                let Stopped { flow, block, message } = Stopped::of(&session, &trace);
                tracing::warn!(session = %session.id, code = error.code, flow, block, message, "a session froze");
                metrics::counter!("flowsdk_sessions_frozen").increment(1);
                self.frozen.push(FrozenSession {
                    session_id: session.id.clone(),
                    error,
                    entry: event.to_json(),
                    frozen_at: now,
                });
                self.sessions.push((session, expected));
            }
        }
    }

    /// Adds a message of no run, behind all others.
    pub(super) fn say(&mut self, event: OutgoingEvent, chat_id: &ChatId, handover: &Handover) {
        self.say_at(self.messages.len(), event, chat_id, handover);
    }

    /// Adds what sockets are told, behind the messages so far. In one process they are told after the commit.
    pub(super) fn notify(&mut self, notices: &[Notice], handover: &Handover) {
        let entries = notices.iter().filter_map(|notice| handover.entry(notice));
        self.publications.extend(entries.map(Publication::Entry));
    }

    /// Adds a message at a place among those of the batch.
    fn say_at(&mut self, at: usize, event: OutgoingEvent, chat_id: &ChatId, handover: &Handover) {
        let published = handover.publishes(&event);
        self.messages.insert(at, row_of(&event, chat_id));
        self.publications.extend(published.then(|| Publication::Message(Box::new(event))));
    }

    /// Writes everything that the turns of a batch changed. Returns the numbers of its messages in their chats.
    pub(super) async fn write<T: ConversationTx>(self, tx: &mut T) -> Result<Numbers, StorageError> {
        let mut numbers = Numbers::default();
        announce(tx.outbox(), self.began).await?;
        if !self.messages.is_empty() {
            let seqs = tx.messages().insert_many(&self.messages).await?;
            let stored = self.messages.iter().zip(&seqs);
            let told = stored
                .filter_map(|(message, seq)| Some((self.routers.get(&message.chat_id)?, message, *seq)));
            announce_messages(tx.outbox(), told).await?;
            numbers.0.extend(self.messages.into_iter().map(|message| message.id).zip(seqs));
        }
        announce(tx.outbox(), self.turned).await?;
        if !self.sessions.is_empty() {
            let rows: Vec<SessionWrite<'_>> = self
                .sessions
                .iter()
                .map(|(session, expected)| SessionWrite { session, expected: *expected })
                .collect();
            tx.sessions().save_many(&rows).await?;
        }
        if !self.ended.is_empty() {
            tx.sessions().delete_many(&self.ended.iter().collect::<Vec<_>>()).await?;
        }
        if !self.contacts.is_empty() {
            tx.contacts().save_many(&self.contacts.values().collect::<Vec<_>>()).await?;
        }
        if !self.windows.is_empty() {
            tx.chats().extend_windows(&self.windows).await?;
        }
        if !self.closed_chats.is_empty() {
            tx.chats().close_many(&self.closed_chats).await?;
        }
        if !self.frozen.is_empty() {
            tx.sessions().freeze_many(&self.frozen).await?;
        }
        if !self.led.is_empty() {
            tx.sessions().clear_ahead(&self.led).await?;
        }
        if !self.kept_ahead.is_empty() {
            tx.sessions().keep_entries(&self.kept_ahead, u32::MAX).await?;
        }
        if !self.kept.is_empty() {
            let left_out = tx.sessions().keep_entries(&self.kept, MAX_KEPT).await?;
            if left_out > 0 {
                tracing::warn!(
                    entries = left_out,
                    "frozen sessions keep no more: this is stored and not answered"
                );
                metrics::counter!("flowsdk_kept_entries_dropped").increment(left_out);
            }
        }
        if !self.kept_events.is_empty() {
            tx.sessions().keep_entries(&self.kept_events, u32::MAX).await?;
        }
        self.records.write(tx).await?;
        if !self.traces.is_empty() {
            tx.traces().store_many(&self.traces).await?;
        }
        if !self.publications.is_empty() {
            let entry = |publication| match publication {
                Publication::Entry(entry) => entry,
                Publication::Message(mut event) => {
                    numbers.set(&mut event);
                    entry_of(&event)
                }
            };
            let entries: Vec<NewEntry> = self.publications.into_iter().map(entry).collect();
            tx.outbox().push_many(&entries).await?;
        }
        Ok(numbers)
    }
}

/// The numbers of stored messages in their chats.
#[derive(Default)]
pub(super) struct Numbers(HashMap<MessageId, i64>);

impl Numbers {
    /// Numbers the event of a stored message.
    pub(super) fn set(&self, event: &mut OutgoingEvent) {
        event.seq = self.0.get(&event.internal_id).copied();
    }
}
