//! Why a batch of turns was not committed.

use crate::fault::StorageError;

/// Nothing of the batch was committed.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl ConversationError {
    /// Returns whether the same batch may succeed when tried again.
    pub fn is_transient(&self) -> bool {
        let Self::Storage(error) = self;
        error.is_transient()
    }
}
