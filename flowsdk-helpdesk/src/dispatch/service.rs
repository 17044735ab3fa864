//! The dispatcher.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::{QueueId, UserId};
use flowsdk_core::record::HasRecords;
use flowsdk_core::store::{Retries, Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::time::Timestamp;

use super::{Candidate, Distribution};
use crate::desk::steps::tell;
use crate::news::{HasNews, News};
use crate::queue::{DistributionStrategy, HasQueues, Queue};
use crate::ticket::{HasTickets, NotOpen, Ticket, stored};

/// A transaction with all that the dispatcher reads and writes. Every transaction with those accessors is one.
pub trait DispatchTx: Transaction + HasTickets + HasQueues + HasNews + HasOutbox + HasRecords<Queue> {}

impl<T: Transaction + HasTickets + HasQueues + HasNews + HasOutbox + HasRecords<Queue>> DispatchTx for T {}

/// Most tickets that are given out in one transaction.
const AT_ONCE: u32 = 100;

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

    /// Gives out what waits in a queue, as far as its agents have room, or offers it to them. Returns the tickets that were
    /// given or offered.
    ///
    /// # Errors
    /// What was given before stays given.
    pub async fn dispatch(&self, queue: &QueueId) -> Result<Vec<Ticket>, StorageError> {
        let (mut given, mut retries) = (Vec::new(), Retries::default());
        loop {
            match self.round(queue).await {
                Ok(tickets) => {
                    let is_last = tickets.len() < AT_ONCE as usize;
                    given.extend(tickets);
                    if is_last {
                        return Ok(given);
                    }
                }
                Err(error) if error.is_lost_race() && retries.again() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives out what waits in each of these queues. A queue that fails waits for the sweep.
    pub async fn dispatch_each(&self, queues: &[QueueId]) {
        for queue in queues {
            if let Err(error) = self.dispatch(queue).await {
                tracing::warn!(%queue, error = %Chain(&error), "the tickets of a queue wait for the next sweep");
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

    /// Gives out tickets of a queue in one transaction. The agents are locked first, then counted, so that no other
    /// transaction gives them a ticket in between.
    async fn round(&self, queue: &QueueId) -> Result<Vec<Ticket>, StorageError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        let Some(queue) = HasRecords::<Queue>::records(&mut tx).find_for_update(queue).await? else {
            return Ok(Vec::new());
        };
        if queue.distribution_strategy == DistributionStrategy::ManualPickup {
            return Ok(Vec::new());
        }
        let users = tx.tickets().lock_online_agents(&queue.id, now).await?;
        let Some(distribution) = distribution(&mut tx, &queue, users).await? else { return Ok(Vec::new()) };
        let room: u32 = distribution.agents.iter().map(|agent| queue_room(&queue, agent)).sum();
        if room == 0 {
            return Ok(Vec::new());
        }
        // Those on whom everybody has passed must not hold up others behind them.
        let most = if queue.accept_within_seconds.is_some() { AT_ONCE } else { room.min(AT_ONCE) };
        let tickets = tx.tickets().claim_waiting(&queue.id, most).await?;
        let passed: Vec<Vec<UserId>> = tickets.iter().map(|ticket| ticket.passed_at(now)).collect();
        let users = distribution.of(passed.iter().map(Vec::as_slice));
        let given = tickets.into_iter().zip(users).filter_map(|(ticket, user)| Some((ticket, user?)));
        let (mut tickets, users): (Vec<Ticket>, Vec<UserId>) = given.unzip();
        let Some(last) = users.last().cloned() else { return Ok(Vec::new()) };
        for (ticket, user) in tickets.iter_mut().zip(users) {
            give(ticket, user, &queue, now).map_err(|_| StorageError::Stale { entity: "ticket" })?;
        }
        let is_offer = queue.accept_within_seconds.is_some();
        let happened =
            if is_offer { WebhookEventType::TicketUpdated } else { WebhookEventType::TicketAssigned };
        stored::save(&mut tx, &self.cx, happened, &tickets).await?;
        if queue.distribution_strategy == DistributionStrategy::RoundRobin {
            tx.queues().note_given(&queue.id, &last).await?;
        }
        let news = if is_offer { News::of_offer } else { News::of_assignment };
        tell(&mut tx, tickets.iter().filter_map(news), now).await?;
        tx.commit().await?;
        let counter = if is_offer { "flowsdk_tickets_offered" } else { "flowsdk_tickets_distributed" };
        metrics::counter!(counter).increment(tickets.len() as u64);
        Ok(tickets)
    }
}

/// Gives a waiting ticket of a queue to a user, or offers it to them.
fn give(ticket: &mut Ticket, user: UserId, queue: &Queue, now: Timestamp) -> Result<(), NotOpen> {
    match queue.accept_within_seconds {
        Some(seconds) => ticket.offer(user, now + Duration::from_secs(seconds.into()), now),
        None => ticket.assign(user, now),
    }
}

fn queue_room(queue: &Queue, agent: &Candidate) -> u32 {
    queue.max_concurrent_tickets_per_agent.saturating_sub(agent.open)
}

/// Returns the agents among `users`, who are locked, with their tickets; `None` if there are none.
pub(crate) async fn distribution<T: DispatchTx>(
    tx: &mut T,
    queue: &Queue,
    users: Vec<UserId>,
) -> Result<Option<Distribution>, StorageError> {
    if users.is_empty() {
        return Ok(None);
    }
    let loads: HashMap<UserId, i64> =
        tx.tickets().loads(&queue.router_id, &users).await?.into_iter().collect();
    let open = |user: &UserId| loads.get(user).and_then(|open| u32::try_from(*open).ok()).unwrap_or(0);
    let agents = users.into_iter().map(|user| Candidate { open: open(&user), user }).collect();
    Ok(Some(Distribution {
        strategy: queue.distribution_strategy,
        limit: queue.max_concurrent_tickets_per_agent,
        last: tx.queues().last_given(&queue.id).await?,
        agents,
    }))
}
