//! Why a use case of budgets fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of budgets fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum BudgetError {
    /// No such budget within reach.
    #[error("no such budget")]
    #[fault(NotFound, "not_found", pt = "Orçamento não encontrado", en = "Budget not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a budget.
    #[error("budget taken")]
    #[fault(
        Conflict,
        "budget_taken",
        pt = "O roteador já tem um orçamento",
        en = "The router has a budget already",
        field = "routerId"
    )]
    Taken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
