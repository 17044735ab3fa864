//! Reading news.

use std::collections::BTreeSet;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;

use super::{HasNews, KEPT_FOR, NewsRow};
use crate::queue::HasQueues;
use crate::ticket::HasTickets;

/// Most news that are read at once.
const AT_ONCE: u32 = 1_000;

/// Where a desk that was away begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// Behind this number: it gets everything that came since.
    From(i64),
    /// Behind this number, which is the last one: what it has missed is gone, so it has to load everything anew.
    Everything(i64),
}

/// How many tickets wait in a queue in which a user works.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct WaitingInQueue {
    pub user_id: UserId,
    pub router_id: RouterId,
    pub queue_id: QueueId,
    pub waiting: i64,
    /// When the oldest of them was opened.
    pub oldest: Option<Timestamp>,
}

/// Reads the news of desks, and forgets old ones.
#[derive(Debug)]
pub struct DeskNews<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> DeskNews<S>
where
    S::Tx: HasNews + HasTickets + HasQueues,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns where a desk of a user begins that has seen the news up to `since`, or begins now.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn missed(&self, user: &UserId, since: Option<i64>) -> Result<Missed, StorageError> {
        let mut tx = self.store.read().await?;
        let last = tx.news().last(user).await?;
        let Some(since) = since else { return Ok(Missed::From(last)) };
        if since == last {
            return Ok(Missed::From(last));
        }
        // A number that was never given is of another database.
        let is_known = (0..last).contains(&since);
        let first = if is_known { tx.news().unseen(&[(user.clone(), since)], 1).await?.pop() } else { None };
        Ok(match first {
            Some(first) if first.seq == since + 1 => Missed::From(since),
            _ => Missed::Everything(last),
        })
    }

    /// Returns what desks have not seen: for each user the news behind the number that comes with them, in order.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn unseen(&self, desks: &[(UserId, i64)]) -> Result<Vec<NewsRow>, StorageError> {
        if desks.is_empty() {
            return Ok(Vec::new());
        }
        self.store.read().await?.news().unseen(desks, AT_ONCE).await
    }

    /// Returns how many tickets wait in each queue of these users.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn waiting(&self, users: &[UserId]) -> Result<Vec<WaitingInQueue>, StorageError> {
        if users.is_empty() {
            return Ok(Vec::new());
        }
        let mut tx = self.store.read().await?;
        let works = tx.queues().of_users(users).await?;
        let queues: BTreeSet<QueueId> = works.iter().map(|(_, _, queue)| queue.clone()).collect();
        if queues.is_empty() {
            return Ok(Vec::new());
        }
        let waiting = tx.tickets().waiting_in(&queues.into_iter().collect::<Vec<_>>()).await?;
        let count = |(user_id, router_id, queue_id): (UserId, RouterId, QueueId)| {
            let found = waiting.iter().find(|(queue, ..)| *queue == queue_id);
            let (waiting, oldest) = found.map_or((0, None), |(_, count, since)| (*count, Some(*since)));
            WaitingInQueue { user_id, router_id, queue_id, waiting, oldest }
        };
        Ok(works.into_iter().map(count).collect())
    }

    /// Forgets news that are older than [`KEPT_FOR`].
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn forget(&self) -> Result<u64, StorageError> {
        let mut tx = self.store.begin().await?;
        let forgotten = tx.news().purge(self.cx.now() - KEPT_FOR).await?;
        tx.commit().await?;
        Ok(forgotten)
    }
}
