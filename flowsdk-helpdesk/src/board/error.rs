//! Why a board is not drawn.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::router::RouterUnknown;

/// The reason why a board is not drawn.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum BoardError {
    /// No such router.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
