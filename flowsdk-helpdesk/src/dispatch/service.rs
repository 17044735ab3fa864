//! The dispatcher.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::{QueueId, UserId};
use flowsdk_core::record::HasRecords;
use flowsdk_core::store::{Retries, Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;

use super::staffing::Staffing;
use crate::desk::steps::tell;
use crate::news::{HasNews, News};
use crate::queue::{HasQueues, Queue};
use crate::ticket::{HasTickets, NotOpen, stored};

/// A transaction with all that the dispatcher reads and writes. Every transaction with those accessors is one.
pub trait DispatchTx: Transaction + HasTickets + HasQueues + HasNews + HasOutbox + HasRecords<Queue> {}

impl<T: Transaction + HasTickets + HasQueues + HasNews + HasOutbox + HasRecords<Queue>> DispatchTx for T {}

/// Most queues whose tickets are given out in one transaction.
const QUEUES_AT_ONCE: usize = 8;

/// Gives waiting tickets to agents (rulings D2): whenever something has freed or added room, and by a sweep for what
/// was missed. Any number of them may run side by side.
#[derive(Debug)]
pub struct Dispatcher<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> Dispatcher<S>
where
    S::Tx: DispatchTx,
{
    /// Creates a dispatcher over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Gives out what waits in a queue, as far as its agents have room, or offers it to them.
    ///
    /// # Errors
    /// What was given before stays given.
    pub async fn dispatch(&self, queue: &QueueId) -> Result<(), StorageError> {
        self.give_out(std::slice::from_ref(queue)).await
    }

    /// Gives out what waits in each of these queues. A queue that fails waits for the sweep.
    pub async fn dispatch_each(&self, queues: &[QueueId]) {
        for some in queues.chunks(QUEUES_AT_ONCE) {
            if some.len() > 1 && self.give_out(some).await.is_ok() {
                continue;
            }
            // One by one, so that a queue that fails holds up no other.
            for queue in some {
                if let Err(error) = self.dispatch(queue).await {
                    tracing::warn!(%queue, error = %Chain(&error), "the tickets of a queue wait for the next sweep");
                }
            }
        }
    }

    /// Gives out what waits in every queue.
    ///
    /// # Errors
    /// The queues cannot be read.
    pub async fn sweep(&self) -> Result<(), StorageError> {
        let queues = self.store.read().await?.tickets().queues_to_distribute().await?;
        self.dispatch_each(&queues).await;
        Ok(())
    }

    /// Gives out what waits in the queues of a user who has room now.
    ///
    /// # Errors
    /// The queues cannot be read.
    pub async fn dispatch_to(&self, user: &UserId) -> Result<(), StorageError> {
        let queues = self.store.read().await?.tickets().queues_to_distribute_to(user).await?;
        self.dispatch_each(&queues).await;
        Ok(())
    }

    /// Gives out what waits in these queues together.
    async fn give_out(&self, queues: &[QueueId]) -> Result<(), StorageError> {
        let (mut left, mut retries) = (queues.to_vec(), Retries::default());
        while !left.is_empty() {
            match self.round(&left).await {
                Ok(unfinished) => left = unfinished,
                Err(error) if error.is_lost_race() && retries.again() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives out tickets of queues in one transaction, and returns the queues in which more may wait. The agents are locked
    /// first, then counted, so that no other transaction gives them a ticket in between.
    async fn round(&self, queues: &[QueueId]) -> Result<Vec<QueueId>, StorageError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        let mut staffing = Staffing::read(&mut tx, queues, now).await?;
        let most = staffing.most_at_once();
        if most.is_empty() {
            return Ok(Vec::new());
        }
        let waiting = tx.tickets().claim_waiting(&most).await?;
        let given =
            staffing.give(waiting, now).map_err(|NotOpen| StorageError::Stale { entity: "ticket" })?;
        if given.is_empty() {
            return Ok(Vec::new());
        }
        stored::save_holders(&mut tx, &self.cx, WebhookEventType::TicketAssigned, &given.assigned).await?;
        stored::save_holders(&mut tx, &self.cx, WebhookEventType::TicketUpdated, &given.offered).await?;
        if !given.by_turns.is_empty() {
            tx.queues().note_given(&given.by_turns).await?;
        }
        let news = given.assigned.iter().filter_map(News::of_assignment);
        tell(&mut tx, news.chain(given.offered.iter().filter_map(News::of_offer)), now).await?;
        tx.commit().await?;
        metrics::counter!("flowsdk_tickets_distributed").increment(given.assigned.len() as u64);
        metrics::counter!("flowsdk_tickets_offered").increment(given.offered.len() as u64);
        Ok(given.unfinished)
    }
}
