//! Why a use case of queues fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

/// The reason why a use case of queues fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum QueueError {
    /// No such queue within reach.
    #[error("no such queue")]
    #[fault(NotFound, "not_found", pt = "Fila não encontrada", en = "Queue not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a queue of this name.
    #[error("name taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", field = "name")]
    NameTaken,
    /// The agent is none of the queue's router.
    #[error("no such agent in the router")]
    #[fault(
        Unprocessable,
        "agent_unknown",
        pt = "O agente não existe neste roteador",
        en = "The router has no such agent"
    )]
    AgentUnknown,
    /// Business hours that no day can have, or a service level without a target: field and reason of each.
    #[error("settings that cannot be")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// Open tickets or rules need it.
    #[error(transparent)]
    #[fault(transparent)]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
