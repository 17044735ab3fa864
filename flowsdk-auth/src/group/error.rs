//! Why a use case of groups fails.

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::text::Text;

/// The reason why a group use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// No such group.
    #[error("no such group")]
    NotFound,
    /// The idempotency key was used for another request.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for GroupError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::Idempotency(conflict) => conflict.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Idempotency(conflict) => conflict.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Grupo não encontrado", "Group not found"),
            Self::Idempotency(conflict) => conflict.text(),
            Self::Storage(error) => error.text(),
        }
    }
}
