//! How long traces are kept.

use std::sync::Arc;
use std::time::Duration;

use crate::fault::StorageError;
use crate::session::HasTraces;
use crate::store::{Store, Transaction as _};
use crate::time::Timestamp;

/// Traces deleted in one transaction: turns wait no longer than it takes.
const AT_ONCE: u32 = 500;

/// Deletes old traces of sessions.
#[derive(Debug)]
pub struct TraceRetention<S> {
    store: Arc<S>,
    keep: Duration,
}

impl<S: Store> TraceRetention<S>
where
    S::Tx: HasTraces,
{
    /// Of `store`, which keeps them for `keep`.
    pub fn new(store: Arc<S>, keep: Duration) -> Self {
        Self { store, keep }
    }

    /// Deletes outdated traces and returns their number; an idempotent tick.
    ///
    /// # Errors
    /// Some may be deleted already.
    pub async fn tick(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut deleted = 0;
        loop {
            let mut tx = self.store.begin().await?;
            let some = tx.traces().purge(now - self.keep, AT_ONCE).await?;
            tx.commit().await?;
            deleted += some;
            if some < u64::from(AT_ONCE) {
                return Ok(deleted);
            }
        }
    }
}
