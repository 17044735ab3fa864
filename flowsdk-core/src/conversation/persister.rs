//! The message persister: applies the reports of channels on outgoing messages (spec A 3.1).
//!
//! The producer of an outgoing message writes its row, in the transaction of the event. A status that names the row comes
//! after it. One that names the provider's id alone may come before that id is known: it is parked (rulings C4).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::chat::{Chat, HasChats};
use crate::contact::{HasOptIns, OptInStatus, ToldOptIn, follow_provider};
use crate::context::OpContext;
use crate::event::{DeliveryStatus, HelpdeskEvent, SentMessageEvent, StatusEvent};
use crate::fault::StorageError;
use crate::id::MessageId;
use crate::message::{
    HasMessages, MessageStatus, ParkedStatus, StatusError, StatusWrite, WINDOW_CODES, later,
};
use crate::session::{Channel, SessionId};
use crate::store::{Store, Transaction as _};
use crate::stream::announce::announce_statuses;
use crate::stream::broker::{Entry, NewEntry};
use crate::stream::consumer::{BatchHandler, Verdict, Work};
use crate::stream::outbox::HasOutbox;
use crate::stream::topic::{Helpdesk, TopicName};
use crate::time::Timestamp;

/// The consumer group on `stream:status`.
pub const PERSISTER_GROUP: &str = "persister";

/// How long a status waits for the provider id of its message to be known.
const PARKED_FOR: Duration = Duration::from_mins(10);

/// Applies statuses to message rows.
#[derive(Debug)]
pub struct MessagePersister<S> {
    store: Arc<S>,
    cx: OpContext,
    window_codes: Vec<i64>,
}

/// What was reported of a message, once it is known which one.
#[derive(Debug)]
struct Report<'a> {
    message: MessageId,
    status: MessageStatus,
    at: Timestamp,
    /// The session whose visitor says that they read it.
    said_in: Option<&'a SessionId>,
    error: Option<StatusError>,
}

impl<S: Store> MessagePersister<S>
where
    S::Tx: HasMessages + HasChats + HasOptIns + HasOutbox,
{
    /// Creates a persister over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx, window_codes: WINDOW_CODES.to_vec() }
    }

    /// Sets the codes of errors that mean that a contact can no longer be answered, in place of [`WINDOW_CODES`].
    #[must_use]
    pub fn with_window_codes(self, window_codes: Vec<i64>) -> Self {
        Self { window_codes, ..self }
    }

    /// Applies a batch in one commit; the later of several statuses of one message counts.
    ///
    /// # Errors
    /// None of them is applied.
    pub async fn apply(&self, events: &[&StatusEvent]) -> Result<(), StorageError> {
        if events.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        let reports = self.reports(&mut tx, events).await?;
        let writes = writes(reports);
        let reached = tx.messages().apply_statuses(&writes).await?;
        announce_statuses(&mut tx, &reached, self.cx.now()).await?;
        self.note_opt_outs(&mut tx, &writes).await?;
        self.tell_helpdesk(&mut tx, &writes).await?;
        tx.commit().await
    }

    /// Tells the helpdesk how far the messages came that people have sent. A status that says less than is known already is
    /// no news.
    async fn tell_helpdesk(&self, tx: &mut S::Tx, writes: &[StatusWrite]) -> Result<(), StorageError> {
        let is_told = |write: &&StatusWrite| {
            use MessageStatus::{Delivered, Failed, Played, Read};
            matches!(write.status, Delivered | Read | Played | Failed)
        };
        let told: BTreeMap<(&MessageId, MessageStatus), &StatusWrite> =
            writes.iter().filter(is_told).map(|write| ((&write.id, write.status), write)).collect();
        if told.is_empty() {
            return Ok(());
        }
        let ids: BTreeSet<&MessageId> = told.keys().map(|(id, _)| *id).collect();
        let ids: Vec<MessageId> = ids.into_iter().cloned().collect();
        let event = |(message_id, session_id, status): (MessageId, SessionId, MessageStatus)| {
            let write = told.get(&(&message_id, status))?;
            let error = write.error.clone();
            let window_expired = error.as_ref().is_some_and(|error| self.window_codes.contains(&error.code));
            let timestamp = write.at;
            let event = SentMessageEvent { session_id, message_id, status, error, window_expired, timestamp };
            Some(NewEntry::of::<Helpdesk>(&HelpdeskEvent::MessageStatus(event)))
        };
        let sent = tx.messages().sent_by_people(&ids).await?;
        let entries: Vec<NewEntry> = sent.into_iter().filter_map(event).collect();
        if entries.is_empty() { Ok(()) } else { tx.outbox().push_many(&entries).await }
    }

    /// Notes that contacts want nothing more, where the provider has refused a message for this reason.
    async fn note_opt_outs(&self, tx: &mut S::Tx, writes: &[StatusWrite]) -> Result<(), StorageError> {
        let is_opt_out = |write: &&StatusWrite| write.error.as_ref().is_some_and(StatusError::is_opt_out);
        let stopped: Vec<&StatusWrite> = writes.iter().filter(is_opt_out).collect();
        let Some(at) = stopped.iter().map(|write| write.at).max() else { return Ok(()) };
        let ids: Vec<MessageId> = stopped.into_iter().map(|write| write.id.clone()).collect();
        let told = |chat: Chat| {
            let (contact_id, router_id, chat_id) = (chat.contact_id, chat.router_id?, Some(chat.id));
            Some(ToldOptIn { contact_id, router_id, chat_id, status: OptInStatus::Revoked, at })
        };
        let told: Vec<ToldOptIn> = tx.chats().of_messages(&ids).await?.into_iter().filter_map(told).collect();
        follow_provider(tx, &self.cx, &told).await
    }

    /// Finds the message of each status, and parks those whose message is not known yet.
    async fn reports<'a>(
        &self,
        tx: &mut S::Tx,
        events: &[&'a StatusEvent],
    ) -> Result<Vec<Report<'a>>, StorageError> {
        let mut reports = Vec::with_capacity(events.len());
        let sessions = sessions_of(tx, events).await?;
        // Of a provider id its message, as this batch tells.
        let mut told: BTreeMap<&str, &MessageId> = BTreeMap::new();
        let mut unnamed: Vec<(&str, &'a StatusEvent)> = Vec::new();
        for &event in events {
            let number = event.phone_number_id.as_deref();
            let message = event.internal_id.as_ref().filter(|id| is_of(number, sessions.get(*id)));
            match (message, event.channel_message_id.as_deref()) {
                (Some(message), provider) => {
                    if let Some(provider) = provider {
                        told.insert(provider, message);
                    }
                    reports.push(Report::of(message.clone(), event));
                }
                (None, Some(provider)) => unnamed.push((provider, event)),
                (None, None) => tracing::warn!("a status that names no message"),
            }
        }
        if !told.is_empty() {
            let ids: Vec<_> =
                told.iter().map(|(provider, &message)| (message.clone(), (*provider).to_owned())).collect();
            tx.messages().note_provider_ids(&ids).await?;
            let number = |message| sessions.get(&message).map_or("", SessionId::transport).to_owned();
            let providers: Vec<_> =
                ids.into_iter().map(|(message, provider)| (provider, number(message))).collect();
            for parked in tx.messages().take_parked(&providers).await? {
                if let Some(&message) = told.get(parked.provider_id.as_str()) {
                    reports.push(Report::of_parked(message.clone(), parked));
                }
            }
        }
        if !unnamed.is_empty() {
            let named = told.into_iter().filter_map(|(provider, message)| {
                Some((provider.to_owned(), vec![(message.clone(), sessions.get(message)?.clone())]))
            });
            self.find(tx, unnamed, named.collect(), &mut reports).await?;
        }
        Ok(reports)
    }

    /// Finds the messages of statuses that name the provider's id alone. Those of `named` are known already.
    async fn find<'a>(
        &self,
        tx: &mut S::Tx,
        unnamed: Vec<(&str, &'a StatusEvent)>,
        mut named: HashMap<String, Vec<(MessageId, SessionId)>>,
        reports: &mut Vec<Report<'a>>,
    ) -> Result<(), StorageError> {
        let asked: BTreeSet<&str> =
            unnamed.iter().map(|(provider, _)| *provider).filter(|id| !named.contains_key(*id)).collect();
        if !asked.is_empty() {
            let asked: Vec<String> = asked.into_iter().map(str::to_owned).collect();
            let stored = tx.messages().find_by_provider_ids(&asked).await?;
            // Messages of two numbers may have the same id: a business can report any for its own.
            for (provider, id, session) in stored {
                named.entry(provider).or_default().push((id, session));
            }
        }
        let now = self.cx.now();
        let mut parked = Vec::new();
        for (provider, event) in unnamed {
            let number = event.phone_number_id.as_deref();
            let found = named.get(provider).map(Vec::as_slice).unwrap_or_default();
            match found.iter().find(|(_, session)| is_of(number, Some(session))) {
                Some((message, _)) => reports.push(Report::of(message.clone(), event)),
                None => parked.push(ParkedStatus {
                    provider_id: provider.to_owned(),
                    status: event.status.message_status(),
                    at: event.timestamp,
                    error: event.error.clone(),
                    phone_number_id: event.phone_number_id.clone().unwrap_or_default(),
                    parked_at: now,
                }),
            }
        }
        if parked.is_empty() {
            return Ok(());
        }
        tx.messages().park(&parked).await?;
        let dropped = tx.messages().drop_parked(now - PARKED_FOR).await?;
        if dropped > 0 {
            metrics::counter!("flowsdk_statuses_of_unknown_messages").increment(dropped);
            tracing::warn!(dropped, "statuses of messages that nobody sent are dropped");
        }
        Ok(())
    }
}

/// Returns the sessions of the messages that reports with both ids name.
async fn sessions_of<T: HasMessages>(
    tx: &mut T,
    events: &[&StatusEvent],
) -> Result<HashMap<MessageId, SessionId>, StorageError> {
    let with_both = events.iter().filter(|event| event.channel_message_id.is_some());
    let ids: BTreeSet<&MessageId> = with_both.filter_map(|event| event.internal_id.as_ref()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<MessageId> = ids.into_iter().cloned().collect();
    Ok(tx.messages().sessions_of(&ids).await?.into_iter().collect())
}

/// Returns whether a message of this session is of this number; every one is of no number in particular.
fn is_of(number: Option<&str>, session: Option<&SessionId>) -> bool {
    number.is_none_or(|number| {
        session.is_some_and(|session| session.channel() == Channel::Phone && session.transport() == number)
    })
}

impl<'a> Report<'a> {
    fn of(message: MessageId, event: &'a StatusEvent) -> Self {
        let said_in = event.session_id.as_ref().filter(|_| event.status == DeliveryStatus::Read);
        let status = event.status.message_status();
        Self { message, status, at: event.timestamp, said_in, error: event.error.clone() }
    }

    fn of_parked(message: MessageId, parked: ParkedStatus) -> Self {
        let ParkedStatus { status, at, error, .. } = parked;
        Self { message, status, at, said_in: None, error }
    }
}

/// Returns one write a message. `read` is the word of a visitor on a message that they name, so it counts only
/// within their session. There is one write for each of these, with the first time they said it. All are in order,
/// so that two transactions lock rows in the same one.
fn writes(reports: Vec<Report<'_>>) -> Vec<StatusWrite> {
    let mut by_message: BTreeMap<MessageId, StatusWrite> = BTreeMap::new();
    let mut scoped: BTreeMap<(MessageId, &SessionId), StatusWrite> = BTreeMap::new();
    for Report { message: id, status, at, said_in, error } in reports {
        let error = error.filter(|_| status == MessageStatus::Failed);
        let write = StatusWrite { id: id.clone(), status, at, session: said_in.cloned(), error };
        if let Some(session) = said_in {
            scoped.entry((id, session)).or_insert(write);
            continue;
        }
        by_message
            .entry(id)
            .and_modify(|known| {
                known.status = later(known.status, status);
                known.at = known.at.max(at);
                known.error = known.error.take().or_else(|| write.error.clone());
            })
            .or_insert(write);
    }
    for write in by_message.values_mut().filter(|write| write.status != MessageStatus::Failed) {
        write.error = None;
    }
    by_message.into_values().chain(scoped.into_values()).collect()
}

#[async_trait]
impl<S: Store> BatchHandler for MessagePersister<S>
where
    S::Tx: HasMessages + HasChats + HasOptIns + HasOutbox,
{
    type Event = StatusEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<StatusEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<StatusEvent, ()>]) -> Vec<Verdict<()>> {
        let events: Vec<&StatusEvent> = batch.iter().map(|work| work.event()).collect();
        Verdict::of_write(batch.len(), &self.apply(&events).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(events: &[StatusEvent]) -> Vec<StatusWrite> {
        let report = |event| Report::of(StatusEvent::clone(event).internal_id.expect("an id"), event);
        writes(events.iter().map(report).collect())
    }

    #[test]
    fn the_later_status_of_a_message_is_written_once_and_read_stays_in_its_session() {
        let id = MessageId::generate(OpContext::system().ids());
        let session = SessionId::parse("wc-c-u").expect("id");
        let event = |status, at| StatusEvent {
            status,
            internal_id: Some(id.clone()),
            channel_message_id: None,
            session_id: Some(session.clone()),
            phone_number_id: None,
            error: None,
            timestamp: Timestamp::from_millis(at),
        };
        let events = [
            event(DeliveryStatus::Delivered, 2),
            event(DeliveryStatus::Sent, 1),
            event(DeliveryStatus::Read, 3),
        ];
        let found: Vec<_> =
            written(&events).into_iter().map(|write| (write.status, write.session.is_some())).collect();
        assert_eq!(found, [(MessageStatus::Delivered, false), (MessageStatus::Read, true)]);
    }

    #[test]
    fn what_visitors_repeat_of_a_message_is_written_once_a_session() {
        let id = MessageId::generate(OpContext::system().ids());
        let read = |session: &str, at| StatusEvent {
            status: DeliveryStatus::Read,
            internal_id: Some(id.clone()),
            channel_message_id: None,
            session_id: Some(SessionId::parse(session).expect("id")),
            phone_number_id: None,
            error: None,
            timestamp: Timestamp::from_millis(at),
        };
        let events = [read("wc-c-u", 1), read("wc-c-other", 2), read("wc-c-u", 3), read("wc-c-u", 3)];
        let found: Vec<_> = written(&events)
            .into_iter()
            .map(|write| (write.session.map(|session| session.to_string()), write.at.as_millis()))
            .collect();
        assert_eq!(found, [(Some("wc-c-other".to_owned()), 2), (Some("wc-c-u".to_owned()), 1)]);
    }
}
