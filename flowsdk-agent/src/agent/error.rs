//! Why a use case of AI agents fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

/// The reason why a use case of AI agents fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AiAgentError {
    /// No such AI agent within reach.
    #[error("no such AI agent")]
    #[fault(NotFound, "not_found", pt = "Agente de IA não encontrado", en = "AI agent not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// Fields that do not fit, each with its reason.
    #[error("fields that do not fit")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The credential of its model does not exist.
    #[error("no such credential")]
    #[fault(
        Unprocessable,
        "credential_unknown",
        pt = "Credencial não encontrada",
        en = "Credential not found",
        field = "llmCredentialId"
    )]
    CredentialUnknown,
    /// The credential of its second model does not exist.
    #[error("no such credential of the fallback")]
    #[fault(
        Unprocessable,
        "credential_unknown",
        pt = "Credencial não encontrada",
        en = "Credential not found",
        field = "fallbackLlmCredentialId"
    )]
    FallbackCredentialUnknown,
    /// Others refer to it.
    #[error(transparent)]
    #[fault(transparent)]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
