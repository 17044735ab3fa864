//! Why a use case of templates fails.

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::text::Text;

/// The reason why a use case of templates failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// No such template within reach.
    #[error("no such template")]
    NotFound,
    /// No such router to create it in.
    #[error("no such router")]
    RouterUnknown,
    /// Router, account, name and language are those of another template.
    #[error("name taken")]
    NameTaken,
    /// The provider would refuse it: field and reason of each finding.
    #[error("components that the provider refuses")]
    Invalid(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for TemplateError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::RouterUnknown => FaultKind::Unprocessable,
            Self::NameTaken => FaultKind::Conflict,
            Self::Invalid(_) => FaultKind::Invalid,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::RouterUnknown => "router_unknown",
            Self::NameTaken => "name_taken",
            Self::Invalid(_) => "validation_failed",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Modelo não encontrado", "Template not found"),
            Self::RouterUnknown => Text::new("Roteador não encontrado", "Router not found"),
            Self::NameTaken => Text::new("Nome já existe", "Name already exists"),
            Self::Invalid(_) => Text::new("Dados inválidos", "Invalid data"),
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::RouterUnknown => Some("routerId"),
            Self::NameTaken => Some("name"),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::Invalid(findings) => findings.clone(),
            _ => Vec::new(),
        }
    }
}
