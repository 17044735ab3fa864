//! Why a use case of credentials fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use crate::text::Text;

/// The reason why an LLM credential use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmCredentialError {
    /// No such credential.
    #[error("no such credential")]
    NotFound,
    /// The address is absent, or is not https.
    #[error("address")]
    Address,
    /// Routers name it.
    #[error("in use")]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for LlmCredentialError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::Address => FaultKind::Invalid,
            Self::InUse(_) => FaultKind::Conflict,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Address => "validation_failed",
            Self::InUse(_) => IN_USE,
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Credencial não encontrada", "Credential not found"),
            Self::Address => Text::new(
                "Deve ser um endereço https; openai_compatible precisa de um",
                "Must be an https address; openai_compatible needs one",
            ),
            Self::InUse(_) => IN_USE_TEXT,
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        matches!(self, Self::Address).then_some("baseUrl")
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            _ => Vec::new(),
        }
    }
}
