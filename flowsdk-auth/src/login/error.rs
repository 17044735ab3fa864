//! Why a login or a refresh fails.

use flowsdk_core::fault::{Fault, FaultKind, RateLimit, StorageError, UNAVAILABLE};
use flowsdk_core::kv::KeyValueError;
use flowsdk_core::text::Text;

use crate::token::TokenError;

/// Text of a limit that is reached.
pub(crate) const RATE_LIMITED: Text =
    Text::new("Muitas tentativas; tente novamente mais tarde", "Too many attempts; try again later");

/// Why a login fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// Unknown address or wrong password; nobody is told which (spec A 4.1 rule 1).
    #[error("unknown address or wrong password")]
    Credentials,
    /// The agent is outside of their login schedule.
    #[error("outside of the login schedule")]
    ScheduleBlocked,
    /// Too many failures.
    #[error("too many attempts")]
    RateLimited(RateLimit),
    /// Too many passwords wait to be compared.
    #[error("too many hashes are waiting")]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for LoginError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Credentials => FaultKind::Unauthenticated,
            Self::ScheduleBlocked => FaultKind::Forbidden,
            Self::RateLimited(_) => FaultKind::RateLimited,
            Self::Busy => FaultKind::Unavailable,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Credentials => "invalid_credentials",
            Self::ScheduleBlocked => "schedule_blocked",
            Self::RateLimited(_) => "rate_limited",
            Self::Busy => "unavailable",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::Credentials => Text::new("Credenciais inválidas", "Invalid credentials"),
            Self::ScheduleBlocked => Text::new("Fora do horário de acesso", "Outside of the login schedule"),
            Self::RateLimited(_) => RATE_LIMITED,
            Self::Busy => UNAVAILABLE,
            Self::Storage(error) => error.text(),
        }
    }

    fn rate_limit(&self) -> Option<RateLimit> {
        match self {
            Self::RateLimited(limit) => Some(*limit),
            _ => None,
        }
    }
}

/// Why a refresh fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// No header, no token in it, or another scheme.
    #[error("no token")]
    Missing,
    /// The token is not acceptable.
    #[error(transparent)]
    Invalid(#[from] TokenError),
    /// The user has logged out after the token was issued, or the token was used before and is one-time.
    #[error("session ended")]
    SessionEnded,
    /// The user of the token does not exist any more.
    #[error("user unknown")]
    PrincipalUnknown,
    /// Nobody can tell now whether the one-time token was used before.
    #[error("one-time tokens cannot be checked")]
    Unavailable(#[from] KeyValueError),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for RefreshError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Unavailable(_) => FaultKind::Unavailable,
            Self::Storage(error) => error.kind(),
            _ => FaultKind::Unauthenticated,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Missing => "token_missing",
            Self::Invalid(error) => error.code(),
            Self::SessionEnded => "session_ended",
            Self::PrincipalUnknown => "principal_unknown",
            Self::Unavailable(_) => "unavailable",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::Missing => Text::new("Token não informado", "Token missing"),
            Self::Invalid(error) => error.text(),
            Self::SessionEnded => Text::new("Sessão encerrada", "Session ended"),
            Self::PrincipalUnknown => Text::new("Usuário não encontrado", "User not found"),
            Self::Unavailable(_) => UNAVAILABLE,
            Self::Storage(error) => error.text(),
        }
    }
}
