//! Why a use case of users fails.

use flowsdk_core::fault::{Fault, FaultKind, StorageError, UNAVAILABLE};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::text::Text;
use flowsdk_crypto::PasswordError;

use super::PasswordRule;

/// The reason why a user use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserError {
    /// No such user.
    #[error("no such user")]
    NotFound,
    /// Another user has the address.
    #[error("address taken")]
    EmailTaken,
    /// No such group.
    #[error("no such group")]
    GroupUnknown,
    /// Without this one there would be no administrator.
    #[error("last administrator")]
    LastAdministrator,
    /// The password may not be chosen.
    #[error(transparent)]
    Password(#[from] PasswordRule),
    /// The idempotency key was used for another request.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Too many passwords wait to be hashed.
    #[error("too many hashes are waiting")]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<PasswordError> for UserError {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::TooLong => Self::Password(PasswordRule::TooLong),
            PasswordError::Busy => Self::Busy,
            // Of a hash that is to be made, it is the cost that bcrypt does not know: a fault of ours.
            PasswordError::Corrupt => Self::Storage(StorageError::Other(Box::new(error))),
        }
    }
}

impl Fault for UserError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::EmailTaken | Self::LastAdministrator => FaultKind::Conflict,
            Self::GroupUnknown => FaultKind::Unprocessable,
            Self::Password(rule) => rule.kind(),
            Self::Idempotency(conflict) => conflict.kind(),
            Self::Busy => FaultKind::Unavailable,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::EmailTaken => "email_taken",
            Self::GroupUnknown => "group_unknown",
            Self::LastAdministrator => "last_administrator",
            Self::Password(rule) => rule.code(),
            Self::Idempotency(conflict) => conflict.code(),
            Self::Busy => "unavailable",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Usuário não encontrado", "User not found"),
            Self::EmailTaken => Text::new("E-mail já cadastrado", "E-mail already taken"),
            Self::GroupUnknown => Text::new("Grupo não encontrado", "Group not found"),
            Self::LastAdministrator => {
                Text::new("Deve restar ao menos um administrador", "At least one administrator must remain")
            }
            Self::Password(rule) => rule.text(),
            Self::Idempotency(conflict) => conflict.text(),
            Self::Busy => UNAVAILABLE,
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::EmailTaken => Some("email"),
            Self::GroupUnknown => Some("groupId"),
            Self::Password(rule) => rule.field(),
            _ => None,
        }
    }
}
