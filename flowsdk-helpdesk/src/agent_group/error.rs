//! Why a use case of groups of agents fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of groups of agents fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AgentGroupError {
    /// No such group within reach.
    #[error("no such group of agents")]
    #[fault(NotFound, "not_found", pt = "Grupo de agentes não encontrado", en = "Agent group not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a group of this name.
    #[error("name taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", field = "name")]
    NameTaken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
