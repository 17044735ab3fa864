//! Why a use case of groups fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;

/// The reason why a group use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum GroupError {
    /// No such group.
    #[error("no such group")]
    #[fault(NotFound, "not_found", pt = "Grupo não encontrado", en = "Group not found")]
    NotFound,
    /// The idempotency key was used for another request.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
