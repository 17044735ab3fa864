//! What contacts are told while their tickets wait.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, say_all};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, TicketId};
use flowsdk_core::message::HasMessages;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;

use super::survey::text_to;
use crate::queue::{HasQueues, PACE_PERIOD, Place};
use crate::ticket::{HasTickets, Ticket};

/// Most tickets of one transaction.
const AT_ONCE: u32 = 200;

/// Contacts who have been silent for this long are told nothing: they have left, and the phone forbids it.
const ACTIVE_FOR: Duration = Duration::from_hours(24);

/// Tells contacts their place in the queue and how long they will wait, as the notice of the queue says.
#[derive(Debug)]
pub struct WaitingNotices<S> {
    store: Arc<S>,
    cx: OpContext,
    handover: Handover,
}

impl<S: Store> WaitingNotices<S>
where
    S::Tx: HasTickets + HasQueues + HasMessages + HasOutbox,
{
    /// Creates the notices over `store`, which pass messages on by `handover`.
    pub fn new(store: Arc<S>, cx: OpContext, handover: Handover) -> Self {
        Self { store, cx, handover }
    }

    /// Tells every contact who is to be told something now. A notice and the note that it was given are one commit, so that
    /// nobody is told twice. Returns how many messages were sent.
    ///
    /// # Errors
    /// What was said before stays said.
    pub async fn tick(&self) -> Result<usize, StorageError> {
        let mut said = 0;
        loop {
            let (tickets, messages) = self.round().await?;
            said += messages;
            if tickets < AT_ONCE as usize {
                return Ok(said);
            }
        }
    }

    /// Tells the contacts of some tickets in one transaction. Returns how many tickets and how many messages there were.
    async fn round(&self) -> Result<(usize, usize), StorageError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        let tickets = tx.tickets().claim_to_notify(now, now - ACTIVE_FOR, AT_ONCE).await?;
        if tickets.is_empty() {
            return Ok((0, 0));
        }
        let words = words(&mut tx, &self.cx, &tickets).await?;
        let said = tickets.iter().filter_map(|ticket| {
            let event = text_to(&self.cx, ticket, words.get(&ticket.id)?.clone())?;
            Some((&ticket.router_id, event))
        });
        let mut said: Vec<(&RouterId, OutgoingEvent)> = said.collect();
        say_all(&mut tx, &mut said, &self.handover).await?;
        let ids: Vec<TicketId> = tickets.iter().map(|ticket| ticket.id.clone()).collect();
        tx.tickets().note_notified(&ids, now).await?;
        tx.commit().await?;
        let counts = (tickets.len(), said.len());
        metrics::counter!("flowsdk_waiting_notices").increment(counts.1 as u64);
        for (_, event) in said {
            self.handover.hand_over(event);
        }
        Ok(counts)
    }
}

/// Returns what to tell the contact of each ticket; nothing of those who are to be told nothing.
async fn words<T: HasTickets + HasQueues>(
    tx: &mut T,
    cx: &OpContext,
    tickets: &[Ticket],
) -> Result<HashMap<TicketId, String>, StorageError> {
    let ids: Vec<TicketId> = tickets.iter().map(|ticket| ticket.id.clone()).collect();
    let queues: BTreeSet<&QueueId> = tickets.iter().filter_map(|ticket| ticket.queue_id.as_ref()).collect();
    let queues: Vec<QueueId> = queues.into_iter().cloned().collect();
    let positions: HashMap<TicketId, i64> =
        tx.tickets().positions(&queues, &ids).await?.into_iter().collect();
    let since = cx.now() - PACE_PERIOD;
    let taken: HashMap<QueueId, i64> = tx.tickets().taken_in(&queues, since).await?.into_iter().collect();
    let queues = tx.queues().find_many(&queues).await?;
    let notices: HashMap<&QueueId, _> =
        queues.iter().filter_map(|queue| Some((&queue.id, queue.waiting_notice.as_ref()?))).collect();
    let words = tickets.iter().filter_map(|ticket| {
        let position = u32::try_from(*positions.get(&ticket.id)?).ok()?;
        let queue = ticket.queue_id.as_ref()?;
        let taken = taken.get(queue).copied().unwrap_or_default();
        let words = notices.get(queue)?.words(Place::at(position, taken))?;
        Some((ticket.id.clone(), words))
    });
    Ok(words.collect())
}
