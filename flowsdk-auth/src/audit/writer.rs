//! Stores records in batches.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::store::{Store, Transaction as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::recorder::dropped;
use super::{AuditRecord, HasAuditLogs};

/// Most records of one commit.
const BATCH: usize = 128;
/// The first pause after a failure; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a batch is tried at the end, when waiting longer would hold up the process.
const LAST_TRIES: u32 = 5;

/// Takes records from their queue into storage.
#[derive(Debug)]
pub struct AuditWriter<S> {
    store: Arc<S>,
    queue: mpsc::Receiver<AuditRecord>,
}

impl<S> AuditWriter<S> {
    pub(super) fn new(store: Arc<S>, queue: mpsc::Receiver<AuditRecord>) -> Self {
        Self { store, queue }
    }
}

impl<S: Store> AuditWriter<S>
where
    S::Tx: HasAuditLogs,
{
    /// Writes until `stop`, then writes the earlier records, and ends. While storage is away it waits and retries;
    /// at the end only for a few seconds.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                received = self.queue.recv_many(&mut batch, BATCH) => {
                    if received == 0 {
                        // Nobody can record anything more; the task lasts as long as its supervisor expects.
                        stop.cancelled().await;
                        return;
                    }
                }
            }
            self.write(&mut batch, &stop).await;
        }
        self.queue.close();
        while self.queue.recv_many(&mut batch, BATCH).await > 0 {
            self.write(&mut batch, &stop).await;
        }
    }

    /// Writes the batch, or drops the records that cannot be written; it is empty afterwards.
    async fn write(&self, batch: &mut Vec<AuditRecord>, stop: &CancellationToken) {
        let (mut pause, mut last_tries) = (FIRST_PAUSE, 0);
        loop {
            match self.append(batch).await {
                Ok(()) => return batch.clear(),
                Err(error) if !error.is_transient() => {
                    tracing::warn!(error = %Chain(&error), "audit records go one by one");
                    return self.write_each(batch).await;
                }
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), records = batch.len(), "audit records wait");
                }
            }
            if stop.is_cancelled() {
                last_tries += 1;
                if last_tries >= LAST_TRIES {
                    batch.drain(..).for_each(|record| dropped(&record, "storage is away"));
                    return;
                }
                tokio::time::sleep(pause).await;
            } else {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = stop.cancelled() => pause = FIRST_PAUSE,
                }
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One bad record must not take the others along.
    async fn write_each(&self, batch: &mut Vec<AuditRecord>) {
        for record in batch.drain(..) {
            match self.append(std::slice::from_ref(&record)).await {
                // The commit whose answer was lost had written it.
                Ok(()) | Err(StorageError::Unique { .. }) => {}
                Err(error) => dropped(&record, &Chain(&error).to_string()),
            }
        }
    }

    async fn append(&self, records: &[AuditRecord]) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.audit_logs().append(records).await?;
        tx.commit().await
    }
}
