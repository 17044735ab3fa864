//! Whether the file of a database was found damaged.

use flowsdk_core::fault::StorageError;
use tokio_util::sync::CancellationToken;

/// Remembers that a statement met a damaged page: nothing is read or written after it. Clones share it.
#[derive(Debug, Clone, Default)]
pub(in crate::sql) struct Damage(CancellationToken);

impl Damage {
    /// Notes the outcome of a statement, and returns it.
    pub(in crate::sql) fn note<T>(&self, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(StorageError::Damaged(_)) = &outcome {
            self.0.cancel();
        }
        outcome
    }

    /// # Errors
    /// [`StorageError::Damaged`] once damage was met.
    pub(in crate::sql) fn check(&self) -> Result<(), StorageError> {
        if self.0.is_cancelled() {
            return Err(StorageError::Damaged("it was found damaged before".into()));
        }
        Ok(())
    }

    /// Waits until damage is met.
    pub(in crate::sql) async fn met(&self) {
        self.0.cancelled().await;
    }
}
