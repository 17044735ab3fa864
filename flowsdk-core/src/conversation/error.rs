//! Why a batch of turns was not committed.

use crate::fault::StorageError;

/// Nothing of the batch was committed.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// An event that this version cannot handle.
    #[error("{0} is not handled by this version")]
    Unsupported(&'static str),
}

impl ConversationError {
    /// Whether the same batch may succeed when tried again.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Storage(error) if error.is_transient())
    }
}
