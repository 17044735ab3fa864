//! Why a use case of integrations fails.

use crate::crypto::CipherError;
use crate::fault::{Fault, INTERNAL, StorageError};
use crate::flow::OutsideFailure;
use crate::idempotency::IdempotencyConflict;
use crate::router::RouterUnknown;

/// The reason. None of them shows an address or credentials.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum IntegrationError {
    /// No such integration within reach.
    #[error("no such integration")]
    #[fault(NotFound, "not_found", pt = "Integração não encontrada", en = "Integration not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// A header is named that cannot be, or none where one is needed.
    #[error("header name")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve nomear um cabeçalho com auth header, e somente então",
        en = "Must name a header with auth header, and only then",
        field = "settings.headerName"
    )]
    HeaderName,
    /// The credentials for `Authorization: Basic` have no colon between user and password (RFC 7617).
    #[error("credentials without a colon")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Com auth basic deve ser usuário:senha",
        en = "With auth basic it must be user:password",
        field = "credentials"
    )]
    NoColon,
    /// The path would leave the server's address.
    #[error("path")]
    #[fault(
        Invalid,
        "validation_failed",
        pt = "Deve começar com / e ficar abaixo de baseUrl",
        en = "Must begin with / and stay below baseUrl",
        field = "path"
    )]
    Path,
    // No server received the request, so it is no failure of a gateway.
    /// The server's address is not public.
    #[error("address refused")]
    #[fault(
        Unprocessable,
        "provider_refused",
        pt = "O endereço do servidor não é permitido",
        en = "The server's address is not allowed"
    )]
    Refused,
    /// The server does not answer, or breaks off.
    #[error("unreachable")]
    #[fault(
        BadGateway,
        "provider_unreachable",
        pt = "O servidor não respondeu",
        en = "The server did not answer"
    )]
    Unreachable,
    /// The server does not answer in time.
    #[error("no answer in time")]
    #[fault(
        GatewayTimeout,
        "provider_timeout",
        pt = "O servidor não respondeu a tempo",
        en = "The server did not answer in time"
    )]
    TimedOut,
    /// The server's answer is too large.
    #[error("answer too large")]
    #[fault(
        BadGateway,
        "provider_answer_too_large",
        pt = "A resposta do servidor é grande demais",
        en = "The server's answer is too large"
    )]
    TooLarge,
    /// The stored value was encrypted under another master key.
    #[error("stored credentials cannot be opened")]
    #[fault(Internal, "internal", text = INTERNAL)]
    Sealed(#[from] CipherError),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

impl From<OutsideFailure> for IntegrationError {
    fn from(failure: OutsideFailure) -> Self {
        match failure.code {
            "http_forbidden" => Self::Refused,
            "http_timeout" => Self::TimedOut,
            "http_too_large" => Self::TooLarge,
            _ => Self::Unreachable,
        }
    }
}
