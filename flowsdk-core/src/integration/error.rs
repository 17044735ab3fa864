//! Why a use case of integrations fails.

use crate::crypto::CipherError;
use crate::fault::{Fault, FaultKind, INTERNAL, StorageError};
use crate::flow::OutsideFailure;
use crate::idempotency::IdempotencyConflict;
use crate::text::Text;

/// The reason. None of them shows an address or credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntegrationError {
    /// No such integration within reach.
    #[error("no such integration")]
    NotFound,
    /// No such router to create it in.
    #[error("no such router")]
    RouterUnknown,
    /// A header is named that cannot be, or none where one is needed.
    #[error("header name")]
    HeaderName,
    /// The credentials for `Authorization: Basic` have no colon between user and password (RFC 7617).
    #[error("credentials without a colon")]
    NoColon,
    /// The path would leave the server's address.
    #[error("path")]
    Path,
    /// The server's address is not public.
    #[error("address refused")]
    Refused,
    /// The server does not answer, or breaks off.
    #[error("unreachable")]
    Unreachable,
    /// The server does not answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// The server's answer is too large.
    #[error("answer too large")]
    TooLarge,
    /// The stored value was encrypted under another master key.
    #[error("stored credentials cannot be opened")]
    Sealed(#[from] CipherError),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
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

impl Fault for IntegrationError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            // No server received a request: the integration itself cannot be used.
            Self::RouterUnknown | Self::Refused => FaultKind::Unprocessable,
            Self::HeaderName | Self::NoColon | Self::Path => FaultKind::Invalid,
            Self::Unreachable | Self::TooLarge => FaultKind::BadGateway,
            Self::TimedOut => FaultKind::GatewayTimeout,
            Self::Sealed(_) => FaultKind::Internal,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::RouterUnknown => "router_unknown",
            Self::HeaderName | Self::NoColon | Self::Path => "validation_failed",
            Self::Refused => "provider_refused",
            Self::Unreachable => "provider_unreachable",
            Self::TooLarge => "provider_answer_too_large",
            Self::TimedOut => "provider_timeout",
            Self::Sealed(_) => "internal",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Integração não encontrada", "Integration not found"),
            Self::RouterUnknown => Text::new("Roteador não encontrado", "Router not found"),
            Self::HeaderName => Text::new(
                "Deve nomear um cabeçalho com auth header, e somente então",
                "Must name a header with auth header, and only then",
            ),
            Self::NoColon => {
                Text::new("Com auth basic deve ser usuário:senha", "With auth basic it must be user:password")
            }
            Self::Path => Text::new(
                "Deve começar com / e ficar abaixo de baseUrl",
                "Must begin with / and stay below baseUrl",
            ),
            Self::Refused => {
                Text::new("O endereço do servidor não é permitido", "The server's address is not allowed")
            }
            Self::Unreachable => Text::new("O servidor não respondeu", "The server did not answer"),
            Self::TooLarge => {
                Text::new("A resposta do servidor é grande demais", "The server's answer is too large")
            }
            Self::TimedOut => {
                Text::new("O servidor não respondeu a tempo", "The server did not answer in time")
            }
            Self::Sealed(_) => INTERNAL,
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::RouterUnknown => Some("routerId"),
            Self::HeaderName => Some("settings.headerName"),
            Self::NoColon => Some("credentials"),
            Self::Path => Some("path"),
            _ => None,
        }
    }
}
