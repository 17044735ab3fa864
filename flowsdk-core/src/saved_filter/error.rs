//! Why a use case of saved filters fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::router::RouterUnknown;

/// The reason why a use case of saved filters fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SavedFilterError {
    /// No such filter within reach.
    #[error("no such filter")]
    #[fault(NotFound, "not_found", pt = "Filtro não encontrado", en = "Filter not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
