//! Why a use case of API clients fails.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason why an API client use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ApiClientError {
    /// No such client.
    #[error("no such API client")]
    #[fault(NotFound, "not_found", pt = "Cliente de API não encontrado", en = "API client not found")]
    NotFound,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
