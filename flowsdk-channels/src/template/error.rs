//! Why a use case of templates fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

/// The reason why a use case of templates failed.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum TemplateError {
    /// No such template within reach.
    #[error("no such template")]
    #[fault(NotFound, "not_found", pt = "Modelo não encontrado", en = "Template not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// Router, account, name and language are those of another template.
    #[error("name taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", field = "name")]
    NameTaken,
    /// The provider would refuse it: field and reason of each finding.
    #[error("components that the provider refuses")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
