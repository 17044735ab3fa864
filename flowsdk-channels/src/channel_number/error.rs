//! Why a use case of numbers fails.

use flowsdk_core::crypto::CipherError;
use flowsdk_core::fault::{Fault, FaultKind, INTERNAL, StorageError, UNAVAILABLE};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use flowsdk_core::text::Text;
use flowsdk_crypto::FormKeyError;

/// The reason why a use case of channel numbers failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelNumberError {
    /// No such number within reach.
    #[error("no such number")]
    NotFound,
    /// It has no keys yet.
    #[error("no keys")]
    NoKeys,
    /// No such router to create it in.
    #[error("no such router")]
    RouterUnknown,
    /// Another number has this id at the provider.
    #[error("provider's id taken")]
    Taken,
    /// Sessions depend on it.
    #[error("in use")]
    InUse(Dependants),
    /// The keys cannot be made.
    #[error("the keys cannot be made")]
    Keys(#[from] FormKeyError),
    /// The stored secret was encrypted under another master key.
    #[error("stored keys cannot be opened")]
    Sealed(#[from] CipherError),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for ChannelNumberError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::NoKeys => FaultKind::NotFound,
            Self::RouterUnknown => FaultKind::Unprocessable,
            Self::Taken | Self::InUse(_) => FaultKind::Conflict,
            Self::Keys(FormKeyError::Busy) => FaultKind::Unavailable,
            Self::Keys(FormKeyError::Failed) | Self::Sealed(_) => FaultKind::Internal,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NoKeys => "keys_missing",
            Self::RouterUnknown => "router_unknown",
            Self::Taken => "phone_number_taken",
            Self::InUse(_) => IN_USE,
            Self::Keys(FormKeyError::Busy) => "unavailable",
            Self::Keys(FormKeyError::Failed) | Self::Sealed(_) => "internal",
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Número não encontrado", "Number not found"),
            Self::NoKeys => Text::new("O número não tem chaves", "The number has no keys"),
            Self::RouterUnknown => Text::new("Roteador não encontrado", "Router not found"),
            Self::Taken => Text::new("Número já cadastrado", "Number already registered"),
            Self::InUse(_) => IN_USE_TEXT,
            Self::Keys(FormKeyError::Busy) => UNAVAILABLE,
            Self::Keys(FormKeyError::Failed) | Self::Sealed(_) => INTERNAL,
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::RouterUnknown => Some("routerId"),
            Self::Taken => Some("phoneNumberId"),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            _ => Vec::new(),
        }
    }
}
