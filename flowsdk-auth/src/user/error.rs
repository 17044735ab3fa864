//! Why a use case of users fails.

use flowsdk_core::fault::{Fault, StorageError, UNAVAILABLE};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_crypto::PasswordError;

use super::PasswordRule;

/// The reason why a user use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum UserError {
    /// No such user.
    #[error("no such user")]
    #[fault(NotFound, "not_found", pt = "Usuário não encontrado", en = "User not found")]
    NotFound,
    /// Another user has the address.
    #[error("address taken")]
    #[fault(
        Conflict,
        "email_taken",
        pt = "E-mail já cadastrado",
        en = "E-mail already taken",
        field = "email"
    )]
    EmailTaken,
    /// No such group.
    #[error("no such group")]
    #[fault(
        Unprocessable,
        "group_unknown",
        pt = "Grupo não encontrado",
        en = "Group not found",
        field = "groupId"
    )]
    GroupUnknown,
    /// Without this one there would be no administrator.
    #[error("last administrator")]
    #[fault(
        Conflict,
        "last_administrator",
        pt = "Deve restar ao menos um administrador",
        en = "At least one administrator must remain"
    )]
    LastAdministrator,
    /// The password may not be chosen.
    #[error(transparent)]
    #[fault(transparent)]
    Password(#[from] PasswordRule),
    /// The idempotency key was used for another request.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Too many passwords wait to be hashed.
    #[error("too many hashes are waiting")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Busy,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
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
