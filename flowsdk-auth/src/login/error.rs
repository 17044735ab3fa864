//! Why a login or a refresh fails.

use flowsdk_core::fault::{Fault, RateLimit, StorageError, UNAVAILABLE};
use flowsdk_core::kv::KeyValueError;
use flowsdk_core::text::Text;

use crate::token::TokenError;

/// Text of a limit that is reached.
pub(crate) const RATE_LIMITED: Text =
    Text::new("Muitas tentativas; tente novamente mais tarde", "Too many attempts; try again later");

/// Why a login fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum LoginError {
    /// Unknown address or wrong password; nobody is told which (spec A 4.1 rule 1).
    #[error("unknown address or wrong password")]
    #[fault(Unauthenticated, "invalid_credentials", pt = "Credenciais inválidas", en = "Invalid credentials")]
    Credentials,
    /// The agent is outside of their login schedule.
    #[error("outside of the login schedule")]
    #[fault(
        Forbidden,
        "schedule_blocked",
        pt = "Fora do horário de acesso",
        en = "Outside of the login schedule"
    )]
    ScheduleBlocked,
    /// Too many failures.
    #[error("too many attempts")]
    #[fault(RateLimited, "rate_limited", text = RATE_LIMITED, rate_limit = *.0)]
    RateLimited(RateLimit),
    /// Too many passwords wait to be compared.
    #[error("too many hashes are waiting")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

/// Why a refresh fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum RefreshError {
    /// No header, no token in it, or another scheme.
    #[error("no token")]
    #[fault(Unauthenticated, "token_missing", pt = "Token não informado", en = "Token missing")]
    Missing,
    /// The token is not acceptable.
    #[error(transparent)]
    #[fault(transparent)]
    Invalid(#[from] TokenError),
    /// The user has logged out after the token was issued, or the token was used before and is one-time.
    #[error("session ended")]
    #[fault(Unauthenticated, "session_ended", pt = "Sessão encerrada", en = "Session ended")]
    SessionEnded,
    /// Too many refreshes.
    #[error("too many refreshes")]
    #[fault(RateLimited, "rate_limited", text = RATE_LIMITED, rate_limit = *.0)]
    RateLimited(RateLimit),
    /// The user of the token does not exist any more.
    #[error("user unknown")]
    #[fault(Unauthenticated, "principal_unknown", pt = "Usuário não encontrado", en = "User not found")]
    PrincipalUnknown,
    /// Nobody can tell now whether the one-time token was used before.
    #[error("one-time tokens cannot be checked")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Unavailable(#[from] KeyValueError),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
