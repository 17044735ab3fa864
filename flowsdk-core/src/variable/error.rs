//! Why a use case of variables fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::{IdempotencyConflict, OnceError};
use crate::text::Text;

/// The reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VariableError {
    /// No such router or flow, or no such variable of it.
    #[error("no such owner or variable")]
    NotFound,
    /// The owner has a variable of this key.
    #[error("key taken")]
    KeyTaken,
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl From<OnceError> for VariableError {
    fn from(error: OnceError) -> Self {
        match error {
            OnceError::Conflict(conflict) => conflict.into(),
            OnceError::Storage(error) => error.into(),
        }
    }
}

impl Fault for VariableError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::KeyTaken => FaultKind::Conflict,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::KeyTaken => "key_taken",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Variável não encontrada", "Variable not found"),
            Self::KeyTaken => Text::new("Chave já existe", "Key already exists"),
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        matches!(self, Self::KeyTaken).then_some("key")
    }
}
