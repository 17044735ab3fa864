//! Work that takes a processor for long, on threads where no request and no turn waits for its end (rulings S18).

use crate::fault::StorageError;

/// Does `work` on a thread for blocking work.
///
/// # Errors
/// [`StorageError::Other`] if it panicked.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StorageError> {
    tokio::task::spawn_blocking(work).await.map_err(|panicked| StorageError::Other(Box::new(panicked)))
}
