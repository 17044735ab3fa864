//! Why a use case of variables fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::router::VariableOwner;
use crate::text::Text;

/// The reason why a variable use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VariableError {
    /// No such router within reach.
    #[error("no such router")]
    RouterNotFound,
    /// No such flow within reach.
    #[error("no such flow")]
    FlowNotFound,
    /// The owner has no such variable.
    #[error("no such variable")]
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

impl VariableError {
    /// Returns the error of an owner that does not exist.
    pub(super) fn no(owner: &VariableOwner) -> Self {
        match owner {
            VariableOwner::Router(_) => Self::RouterNotFound,
            VariableOwner::Flow(_) => Self::FlowNotFound,
        }
    }
}

impl Fault for VariableError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::RouterNotFound | Self::FlowNotFound | Self::NotFound => FaultKind::NotFound,
            Self::KeyTaken => FaultKind::Conflict,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::RouterNotFound | Self::FlowNotFound | Self::NotFound => "not_found",
            Self::KeyTaken => "key_taken",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::RouterNotFound => Text::new("Roteador não encontrado", "Router not found"),
            Self::FlowNotFound => Text::new("Flow não encontrado", "Flow not found"),
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
