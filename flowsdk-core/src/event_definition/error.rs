//! Why a use case of event definitions fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::router::RouterUnknown;
use crate::text::Text;

/// The reason why a use case of event definitions fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum EventDefinitionError {
    /// No such definition within reach.
    #[error("no such event definition")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Definição de evento não encontrada",
        en = "Event definition not found"
    )]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a definition of this name.
    #[error("name taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", field = "name")]
    NameTaken,
    /// The properties contradict each other: field and reason of each.
    #[error("properties that contradict each other")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
