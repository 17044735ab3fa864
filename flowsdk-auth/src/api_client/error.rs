//! Why a use case of API clients fails.

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::text::Text;

/// The reason why an API client use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiClientError {
    /// No such client.
    #[error("no such API client")]
    NotFound,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for ApiClientError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Cliente de API não encontrado", "API client not found"),
            Self::Storage(error) => error.text(),
        }
    }
}
