//! Why a use case of distribution rules fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

/// The reason why a use case of distribution rules fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum RuleError {
    /// No such rule within reach.
    #[error("no such distribution rule")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Regra de distribuição não encontrada",
        en = "Distribution rule not found"
    )]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has no such queue.
    #[error("no such queue in the router")]
    #[fault(
        Unprocessable,
        "queue_unknown",
        pt = "A fila não existe neste roteador",
        en = "The router has no such queue",
        field = "targetQueueId"
    )]
    QueueUnknown,
    /// The router has no such flow.
    #[error("no such flow in the router")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "O flow não existe neste roteador",
        en = "The router has no such flow",
        field = "flowId"
    )]
    FlowUnknown,
    /// Conditions that cannot be judged: field and reason of each.
    #[error("conditions that cannot be judged")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
