//! Why a use case of close reasons fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of close reasons fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum CloseReasonError {
    /// No such close reason within reach.
    #[error("no such close reason")]
    #[fault(NotFound, "not_found", pt = "Motivo de fechamento não encontrado", en = "Close reason not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a close reason of this key.
    #[error("key taken")]
    #[fault(Conflict, "key_taken", pt = "Chave já existe", en = "Key already exists", field = "key")]
    KeyTaken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
