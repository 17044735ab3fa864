//! Why a use case of dead letters fails.

use crate::fault::{Fault, StorageError};

/// The reason why a dead letter use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum DeadLetterError {
    /// No such dead letter: it never was, was retried, or was deleted.
    #[error("no such dead letter")]
    #[fault(NotFound, "not_found", pt = "Entrada não encontrada", en = "Dead letter not found")]
    NotFound,
    /// No group of this installation reads its stream, so that it would be lost.
    #[error("its stream is not read")]
    #[fault(
        Conflict,
        "stream_not_read",
        pt = "Ninguém lê o fluxo desta entrada aqui",
        en = "Nobody reads the stream of this entry here"
    )]
    NotRead,
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
