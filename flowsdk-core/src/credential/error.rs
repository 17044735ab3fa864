//! Why a use case of credentials fails.

use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::Dependants;

/// The reason why an LLM credential use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum LlmCredentialError {
    /// No such credential.
    #[error("no such credential")]
    #[fault(NotFound, "not_found", pt = "Credencial não encontrada", en = "Credential not found")]
    NotFound,
    /// The address is absent, or is not https.
    #[error("address")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve ser um endereço https; openai_compatible precisa de um",
        en = "Must be an https address; openai_compatible needs one",
        field = "baseUrl"
    )]
    Address,
    /// Routers name it.
    #[error("in use")]
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
