//! Why a use case of documents fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

use crate::model::ModelError;

/// The reason why a use case of documents fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// No such document within reach.
    #[error("no such document")]
    #[fault(NotFound, "not_found", pt = "Documento não encontrado", en = "Document not found")]
    NotFound,
    /// No such router to create it in, or to search.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// Fields that do not fit, each with its reason.
    #[error("fields that do not fit")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The router has as many documents as it may have.
    #[error("too many documents")]
    #[fault(
        Unprocessable,
        "knowledge_full",
        pt = "O roteador já tem 1000 documentos",
        en = "The router has 1000 documents already"
    )]
    Full,
    /// The model that turns texts into vectors did not answer.
    #[error("no vector of the query")]
    #[fault(
        BadGateway,
        "embedder_failed",
        pt = "O modelo de vetores não respondeu: verifique a credencial do roteador",
        en = "The model of vectors did not answer: check the credential of the router"
    )]
    Embedder(#[from] ModelError),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
