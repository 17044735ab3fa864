//! Why a request is made by nobody.

use std::sync::Arc;

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::text::Text;

use crate::token::TokenError;

/// The reason; a 401 each but for the last (spec A 5.2).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthenticateError {
    /// No header, no token in it, or another scheme.
    #[error("no token")]
    Missing,
    /// No active API client has this token.
    #[error("API token of no active client")]
    ApiTokenInvalid,
    /// The API client has expired.
    #[error("API client expired")]
    ApiTokenExpired,
    /// The JWT is not acceptable.
    #[error(transparent)]
    JwtInvalid(#[from] TokenError),
    /// The user has logged out, or changed their password, after the token was issued.
    #[error("session ended")]
    SessionEnded,
    /// The user of the token does not exist any more.
    #[error("user unknown")]
    PrincipalUnknown,
    /// Storage failed; shared by all whose lookup was part of the same query.
    #[error("storage failed")]
    Storage(#[source] Arc<StorageError>),
}

impl Fault for AuthenticateError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Storage(error) => error.kind(),
            _ => FaultKind::Unauthenticated,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Missing => "token_missing",
            Self::ApiTokenInvalid => "token_invalid",
            Self::ApiTokenExpired => "token_expired",
            Self::JwtInvalid(error) => error.code(),
            Self::SessionEnded => "session_ended",
            Self::PrincipalUnknown => "principal_unknown",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::Missing => Text::new("Token não informado", "Token missing"),
            Self::ApiTokenInvalid => Text::new("Token inválido", "Invalid token"),
            Self::ApiTokenExpired => Text::new("Token expirado", "Token expired"),
            Self::JwtInvalid(error) => error.text(),
            Self::SessionEnded => Text::new("Sessão encerrada", "Session ended"),
            Self::PrincipalUnknown => Text::new("Usuário não encontrado", "User not found"),
            Self::Storage(error) => error.text(),
        }
    }
}
