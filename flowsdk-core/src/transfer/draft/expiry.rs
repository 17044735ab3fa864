//! Drafts are deleted when they expire.

use std::sync::Arc;

use super::HasImportDrafts;
use crate::fault::StorageError;
use crate::store::{Store, Transaction as _};
use crate::time::Timestamp;

/// Drafts deleted in one transaction: their files are large.
const AT_ONCE: u32 = 20;

/// Deletes expired drafts.
#[derive(Debug)]
pub struct DraftExpiry<S> {
    store: Arc<S>,
}

impl<S: Store> DraftExpiry<S>
where
    S::Tx: HasImportDrafts,
{
    /// Of `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// Deletes expired drafts and returns their number; an idempotent tick.
    ///
    /// # Errors
    /// Some may be deleted already.
    pub async fn tick(&self, now: Timestamp) -> Result<u64, StorageError> {
        let mut deleted = 0;
        loop {
            let mut tx = self.store.begin().await?;
            let some = tx.import_drafts().purge(now, AT_ONCE).await?;
            tx.commit().await?;
            deleted += some;
            if some < u64::from(AT_ONCE) {
                return Ok(deleted);
            }
        }
    }
}
