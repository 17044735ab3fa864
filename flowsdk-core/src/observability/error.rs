//! Why a use case of the settings fails.

use crate::fault::{Fault, StorageError};

/// The reason why an observability use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ObservabilityError {
    /// The address is not https.
    #[error("address")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve ser um endereço https",
        en = "Must be an https address",
        field = "endpoint"
    )]
    Address,
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
