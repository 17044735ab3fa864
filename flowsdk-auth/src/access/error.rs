//! Why a request is made by nobody.

use std::sync::Arc;

use flowsdk_core::fault::{Fault, StorageError};

use crate::token::TokenError;

/// The reason; a 401 each but for the last (spec A 5.2).
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AuthenticateError {
    /// No header, no token in it, or another scheme.
    #[error("no token")]
    #[fault(
        Unauthenticated,
        "token_missing",
        pt = "Token não informado",
        en = "Token missing: send the header Authorization: Bearer TOKEN"
    )]
    Missing,
    /// No active API client has this token.
    #[error("API token of no active client")]
    #[fault(Unauthenticated, "token_invalid", pt = "Token inválido", en = "Invalid token")]
    ApiTokenInvalid,
    /// The API client has expired.
    #[error("API client expired")]
    #[fault(Unauthenticated, "token_expired", pt = "Token expirado", en = "Token expired")]
    ApiTokenExpired,
    /// The JWT is not acceptable.
    #[error(transparent)]
    #[fault(transparent)]
    JwtInvalid(#[from] TokenError),
    /// The user has logged out, or changed their password, after the token was issued.
    #[error("session ended")]
    #[fault(Unauthenticated, "session_ended", pt = "Sessão encerrada", en = "Session ended")]
    SessionEnded,
    /// The user of the token does not exist any more.
    #[error("user unknown")]
    #[fault(Unauthenticated, "principal_unknown", pt = "Usuário não encontrado", en = "User not found")]
    PrincipalUnknown,
    /// Storage failed; shared by all whose lookup was part of the same query.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[source] Arc<StorageError>),
}
