//! Why a use case of prices fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of prices fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ModelPriceError {
    /// No such price within reach.
    #[error("no such price")]
    #[fault(NotFound, "not_found", pt = "Preço de modelo não encontrado", en = "Price of a model not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a price of this model.
    #[error("model taken")]
    #[fault(
        Conflict,
        "model_taken",
        pt = "O modelo já tem um preço neste roteador",
        en = "The model has a price in this router already",
        field = "model"
    )]
    ModelTaken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
