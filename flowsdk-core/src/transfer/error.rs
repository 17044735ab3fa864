//! Why a transfer fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::text::Text;

/// The reason why a transfer use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// No such router.
    #[error("no such router")]
    RouterNotFound,
    /// No such flow within reach.
    #[error("no such flow")]
    FlowNotFound,
    /// The file cannot be imported: where, and why.
    #[error("file with errors")]
    Invalid(Vec<(String, Text)>),
    /// Names that the file brings are there already.
    #[error("names taken")]
    NameTaken(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for TransferError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::RouterNotFound | Self::FlowNotFound => FaultKind::NotFound,
            Self::Invalid(_) => FaultKind::Unprocessable,
            Self::NameTaken(_) => FaultKind::Conflict,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::RouterNotFound | Self::FlowNotFound => "not_found",
            Self::Invalid(_) => "import_invalid",
            Self::NameTaken(_) => "name_taken",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::RouterNotFound => Text::new("Roteador não encontrado", "Router not found"),
            Self::FlowNotFound => Text::new("Flow não encontrado", "Flow not found"),
            Self::Invalid(_) => Text::new("O arquivo não pode ser importado", "The file cannot be imported"),
            Self::NameTaken(_) => Text::new("Nome já existe", "Name already exists"),
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::Invalid(details) | Self::NameTaken(details) => details.clone(),
            _ => Vec::new(),
        }
    }
}
