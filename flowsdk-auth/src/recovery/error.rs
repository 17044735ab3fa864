//! Why a recovery fails.

use flowsdk_core::fault::{Fault, RateLimit, StorageError, UNAVAILABLE};
use flowsdk_crypto::PasswordError;

use crate::login::RATE_LIMITED;
use crate::user::PasswordRule;

/// The reason why a recovery use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum RecoveryError {
    /// Wrong, expired, used, tried too often, or never sent; nobody is told which.
    #[error("wrong code")]
    #[fault(Invalid, "recovery_code_invalid", pt = "Código inválido", en = "Invalid code", field = "code")]
    CodeInvalid,
    /// The new password may not be chosen.
    #[error(transparent)]
    #[fault(transparent)]
    Password(#[from] PasswordRule),
    /// Too many requests or failures.
    #[error("too many attempts")]
    #[fault(RateLimited, "rate_limited", text = RATE_LIMITED, rate_limit = *.0)]
    RateLimited(RateLimit),
    /// Too many requests or passwords wait.
    #[error("too many requests are waiting")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
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
