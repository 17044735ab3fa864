//! Reading news.

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

    /// Returns the queues in which a user works, of these routers or of all.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn queues_of(
        &self,
        user: &UserId,
        only: Option<&[RouterId]>,
    ) -> Result<Vec<QueueId>, StorageError> {
        let queues = self.store.read().await?.queues().of_user(user, only).await?;
        Ok(queues.into_iter().map(|queue| queue.id).collect())
    }

    /// Returns how many tickets wait in each of these queues, and since when the oldest does; nothing of empty ones.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn waiting(&self, queues: &[QueueId]) -> Result<Vec<(QueueId, i64, Timestamp)>, StorageError> {
        if queues.is_empty() {
            return Ok(Vec::new());
        }
        self.store.read().await?.tickets().waiting_in(queues).await
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
