//! Why a use case of numbers fails.

use flowsdk_core::crypto::CipherError;
use flowsdk_core::fault::{Fault, INTERNAL, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::router::RouterUnknown;
use flowsdk_crypto::FormKeyError;

/// The reason why a use case of channel numbers failed.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ChannelNumberError {
    /// No such number within reach.
    #[error("no such number")]
    #[fault(NotFound, "not_found", pt = "Número não encontrado", en = "Number not found")]
    NotFound,
    /// It has no keys yet.
    #[error("no keys")]
    #[fault(NotFound, "keys_missing", pt = "O número não tem chaves", en = "The number has no keys")]
    NoKeys,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// Another number has this id at the provider.
    #[error("provider's id taken")]
    #[fault(
        Conflict,
        "phone_number_taken",
        pt = "Número já cadastrado",
        en = "Number already registered",
        field = "phoneNumberId"
    )]
    Taken,
    /// Sessions depend on it.
    #[error("in use")]
    #[fault(transparent)]
    InUse(Dependants),
    /// The keys cannot be made.
    #[error("the keys cannot be made")]
    #[fault(transparent)]
    Keys(#[from] FormKeyError),
    /// The stored secret was encrypted under another master key.
    #[error("stored keys cannot be opened")]
    #[fault(Internal, "internal", text = INTERNAL)]
    Sealed(#[from] CipherError),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
