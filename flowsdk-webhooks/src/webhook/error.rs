//! Why a use case of webhooks fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of webhooks fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum WebhookError {
    /// No such webhook within reach.
    #[error("no such webhook")]
    #[fault(NotFound, "not_found", pt = "Webhook não encontrado", en = "Webhook not found")]
    NotFound,
    /// The webhook has no such delivery.
    #[error("no such delivery")]
    #[fault(NotFound, "not_found", pt = "Entrega não encontrada", en = "Delivery not found")]
    DeliveryNotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The time to replay ends before it begins.
    #[error("the time ends before it begins")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve ser antes de to",
        en = "Must be before to",
        field = "from"
    )]
    RangeEmpty,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
