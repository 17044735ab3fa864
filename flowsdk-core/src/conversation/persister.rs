//! The message persister: applies the reports of channels on outgoing messages (spec A 3.1).
//!
//! The producer of an outgoing message writes its row, in the transaction of the event, so a status never arrives
//! before its row.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;

use crate::event::{DeliveryStatus, StatusEvent};
use crate::fault::{Chain, StorageError};
use crate::id::MessageId;
use crate::message::{HasMessages, StatusWrite, later};
use crate::session::SessionId;
use crate::store::{Store, Transaction as _};
use crate::stream::broker::Entry;
use crate::stream::consumer::{BatchHandler, Verdict, Work};
use crate::stream::topic::TopicName;

/// The consumer group on `stream:status`.
pub const PERSISTER_GROUP: &str = "persister";

/// Applies statuses to message rows.
#[derive(Debug)]
pub struct MessagePersister<S> {
    store: Arc<S>,
}

impl<S: Store> MessagePersister<S>
where
    S::Tx: HasMessages,
{
    /// Creates a persister over `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// Applies a batch in one commit; the later of several statuses of one message counts.
    pub async fn apply(&self, events: &[&StatusEvent]) -> Result<(), StorageError> {
        let writes = writes(events);
        if writes.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        tx.messages().apply_statuses(&writes).await?;
        tx.commit().await
    }
}

/// Returns one write a message. `read` is the word of a visitor on a message that they name, so it counts only
/// within their session. There is one write for each of these, with the first time they said it. All are in order,
/// so that two transactions lock rows in the same one.
fn writes(events: &[&StatusEvent]) -> Vec<StatusWrite> {
    let mut by_message: HashMap<&MessageId, StatusWrite> = HashMap::new();
    let mut scoped: BTreeMap<(&MessageId, Option<&SessionId>), StatusWrite> = BTreeMap::new();
    for event in events {
        let Some(id) = &event.internal_id else { continue };
        let status = event.status.message_status();
        let write = StatusWrite { id: id.clone(), status, at: event.timestamp, session: None };
        if event.status == DeliveryStatus::Read {
            scoped
                .entry((id, event.session_id.as_ref()))
                .or_insert(StatusWrite { session: event.session_id.clone(), ..write });
            continue;
        }
        by_message
            .entry(id)
            .and_modify(|known| {
                known.status = later(known.status, status);
                known.at = known.at.max(event.timestamp);
            })
            .or_insert(write);
    }
    let mut writes: Vec<StatusWrite> = by_message.into_values().collect();
    writes.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    writes.extend(scoped.into_values());
    writes
}

#[async_trait]
impl<S: Store> BatchHandler for MessagePersister<S>
where
    S::Tx: HasMessages,
{
    type Event = StatusEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<StatusEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<StatusEvent, ()>]) -> Vec<Verdict<()>> {
        let events: Vec<&StatusEvent> = batch.iter().map(|work| work.event()).collect();
        match self.apply(&events).await {
            Ok(()) => batch.iter().map(|_| Verdict::Done(())).collect(),
            Err(error) => {
                let (transient, reason) = (error.is_transient(), Chain(&error).to_string());
                let again = |_| Verdict::Retry { transient, after: None, reason: reason.clone() };
                batch.iter().map(again).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::OpContext;
    use crate::message::MessageStatus;
    use crate::session::SessionId;
    use crate::time::Timestamp;

    #[test]
    fn the_later_status_of_a_message_is_written_once_and_read_stays_in_its_session() {
        let id = MessageId::generate(OpContext::system().ids());
        let session = SessionId::parse("wc-c-u").expect("id");
        let event = |status, at| StatusEvent {
            status,
            internal_id: Some(id.clone()),
            channel_message_id: None,
            session_id: Some(session.clone()),
            error: None,
            timestamp: Timestamp::from_millis(at),
        };
        let events = [
            event(DeliveryStatus::Delivered, 2),
            event(DeliveryStatus::Sent, 1),
            event(DeliveryStatus::Read, 3),
        ];
        let found: Vec<_> = writes(&events.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|write| (write.status, write.session.is_some()))
            .collect();
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
            error: None,
            timestamp: Timestamp::from_millis(at),
        };
        let events = [read("wc-c-u", 1), read("wc-c-other", 2), read("wc-c-u", 3), read("wc-c-u", 3)];
        let found: Vec<_> = writes(&events.iter().collect::<Vec<_>>())
            .into_iter()
            .map(|write| (write.session.map(|session| session.to_string()), write.at.as_millis()))
            .collect();
        assert_eq!(found, [(Some("wc-c-other".to_owned()), 2), (Some("wc-c-u".to_owned()), 1)]);
    }
}
