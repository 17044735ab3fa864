//! Why a recovery fails.

use flowsdk_core::fault::{Fault, FaultKind, RateLimit, StorageError, UNAVAILABLE};
use flowsdk_core::text::Text;
use flowsdk_crypto::PasswordError;

use crate::login::RATE_LIMITED;
use crate::user::PasswordRule;

/// The reason why a recovery use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoveryError {
    /// Wrong, expired, used, tried too often, or never sent; nobody is told which.
    #[error("wrong code")]
    CodeInvalid,
    /// The new password may not be chosen.
    #[error(transparent)]
    Password(#[from] PasswordRule),
    /// Too many requests or failures.
    #[error("too many attempts")]
    RateLimited(RateLimit),
    /// Too many requests or passwords wait.
    #[error("too many requests are waiting")]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<PasswordError> for RecoveryError {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::TooLong => Self::Password(PasswordRule::TooLong),
            PasswordError::Busy => Self::Busy,
            // Of a hash that is to be made, it is the cost that bcrypt does not know: a fault of ours.
            PasswordError::Corrupt => Self::Storage(StorageError::Other(Box::new(error))),
        }
    }
}

impl Fault for RecoveryError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::CodeInvalid => FaultKind::Invalid,
            Self::Password(rule) => rule.kind(),
            Self::RateLimited(_) => FaultKind::RateLimited,
            Self::Busy => FaultKind::Unavailable,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::CodeInvalid => "recovery_code_invalid",
            Self::Password(rule) => rule.code(),
            Self::RateLimited(_) => "rate_limited",
            Self::Busy => "unavailable",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::CodeInvalid => Text::new("Código inválido", "Invalid code"),
            Self::Password(rule) => rule.text(),
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

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::Password(rule) => rule.field(),
            Self::CodeInvalid => Some("code"),
            _ => None,
        }
    }
}
