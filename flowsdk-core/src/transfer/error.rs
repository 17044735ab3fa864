//! Why a transfer fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::text::Text;

/// The reason why a transfer use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum TransferError {
    /// No such router.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    RouterNotFound,
    /// No such flow within reach.
    #[error("no such flow")]
    #[fault(NotFound, "not_found", pt = "Flow não encontrado", en = "Flow not found")]
    FlowNotFound,
    /// The file cannot be imported: where, and why.
    #[error("file with errors")]
    #[fault(
        Unprocessable, "import_invalid",
        pt = "O arquivo não pode ser importado", en = "The file cannot be imported",
        details = .0.clone()
    )]
    Invalid(Vec<(String, Text)>),
    /// Names that the file brings are there already.
    #[error("names taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", details = .0.clone())]
    NameTaken(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
