//! Why a use case of quick replies fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of quick replies fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum QuickReplyError {
    /// No such quick reply within reach.
    #[error("no such quick reply")]
    #[fault(NotFound, "not_found", pt = "Resposta rápida não encontrada", en = "Quick reply not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a quick reply with this shortcut.
    #[error("shortcut taken")]
    #[fault(
        Conflict,
        "shortcut_taken",
        pt = "Atalho já existe",
        en = "Shortcut already exists",
        field = "shortcut"
    )]
    ShortcutTaken,
    /// The router has no such queue.
    #[error("no such queue in the router")]
    #[fault(
        Unprocessable,
        "queue_unknown",
        pt = "A fila não existe neste roteador",
        en = "The router has no such queue",
        field = "queueId"
    )]
    QueueUnknown,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
