//! Why a use case of the settings fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::text::Text;

/// The reason why an observability use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObservabilityError {
    /// The address is not https.
    #[error("address")]
    Address,
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for ObservabilityError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Address => FaultKind::Invalid,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Address => "validation_failed",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::Address => Text::new("Deve ser um endereço https", "Must be an https address"),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        matches!(self, Self::Address).then_some("endpoint")
    }
}
