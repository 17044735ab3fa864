//! Deletes outdated records (spec A 6 `RETENTION_CLEANUP`).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::idempotency::{HasIdempotency, KEPT_FOR};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;
use serde_json::json;

use super::{AuditAction, AuditRecord, AuditRecorder, HasAuditLogs};
use crate::recovery::HasPasswordRecoveries;

/// Most records deleted in one commit, so that no writer waits long.
const BATCH: u32 = 1_000;

/// Deletes old records of the log, recoveries that have expired and answers that are repeated no more.
#[derive(Debug)]
pub struct AuditRetention<S> {
    store: Arc<S>,
    cx: OpContext,
    audit: AuditRecorder,
    keep: Duration,
}

impl<S: Store> AuditRetention<S>
where
    S::Tx: HasPasswordRecoveries + HasIdempotency + HasAuditLogs,
{
    /// Records are kept for `keep`.
    pub fn new(store: Arc<S>, cx: OpContext, audit: AuditRecorder, keep: Duration) -> Self {
        Self { store, cx, audit, keep }
    }

    /// Deletes the outdated records at `now` and returns the number of records of the log: an idempotent tick. A
    /// record tells of it if there was one.
    ///
    /// # Errors
    /// [`StorageError`]; earlier deletions stay and are recorded, and the next tick goes on.
    pub async fn tick(&self, now: Timestamp) -> Result<u64, StorageError> {
        let cutoff = now - self.keep;
        let mut deleted = 0;
        let purged = self.purge_log(cutoff, &mut deleted).await;
        if deleted > 0 {
            let changes = json!({ "deletedCount": deleted, "cutoffDate": cutoff.to_iso() });
            self.audit.record(AuditRecord::system(&self.cx, AuditAction::RetentionCleanup, Some(changes)));
        }
        purged?;
        let mut tx = self.store.begin().await?;
        tx.password_recoveries().purge(now).await?;
        tx.idempotency().purge(now - KEPT_FOR).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    async fn purge_log(&self, cutoff: Timestamp, deleted: &mut u64) -> Result<(), StorageError> {
        loop {
            let mut tx = self.store.begin().await?;
            let batch = tx.audit_logs().purge(cutoff, BATCH).await?;
            tx.commit().await?;
            *deleted += batch;
            if batch < u64::from(BATCH) {
                return Ok(());
            }
        }
    }
}
