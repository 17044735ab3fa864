//! Why a use case of agents fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of agents fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AgentError {
    /// No such agent within reach.
    #[error("no such agent")]
    #[fault(NotFound, "not_found", pt = "Agente não encontrado", en = "Agent not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// No such user.
    #[error("no such user")]
    #[fault(Unprocessable, "user_unknown", pt = "Usuário não existe", en = "No such user", field = "userId")]
    UserUnknown,
    /// The router has no such group of agents.
    #[error("no such group of agents in the router")]
    #[fault(
        Unprocessable,
        "agent_group_unknown",
        pt = "O grupo de agentes não existe neste roteador",
        en = "The router has no such agent group",
        field = "groupId"
    )]
    GroupUnknown,
    /// The user is an agent of the router already.
    #[error("the user is an agent already")]
    #[fault(
        Conflict,
        "agent_taken",
        pt = "O usuário já é agente deste roteador",
        en = "The user is an agent of this router already",
        field = "userId"
    )]
    Taken,
    /// They have open tickets, or are offered some.
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
