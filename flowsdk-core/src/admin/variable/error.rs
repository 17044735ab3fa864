//! Why a use case of variables fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::router::VariableOwner;

/// The reason why a variable use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum VariableError {
    /// No such router within reach.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    RouterNotFound,
    /// No such flow within reach.
    #[error("no such flow")]
    #[fault(NotFound, "not_found", pt = "Flow não encontrado", en = "Flow not found")]
    FlowNotFound,
    /// The owner has no such variable.
    #[error("no such variable")]
    #[fault(NotFound, "not_found", pt = "Variável não encontrada", en = "Variable not found")]
    NotFound,
    /// The owner has a variable of this key.
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

impl VariableError {
    /// Returns the error of an owner that does not exist.
    pub(super) fn no(owner: &VariableOwner) -> Self {
        match owner {
            VariableOwner::Router(_) => Self::RouterNotFound,
            VariableOwner::Flow(_) => Self::FlowNotFound,
        }
    }
}
