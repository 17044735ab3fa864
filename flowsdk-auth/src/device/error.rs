//! Why a use case of devices fails.

use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::text::Text;

/// The reason why a user device use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserDeviceError {
    /// The user has no such device.
    #[error("no such device")]
    NotFound,
    /// Another device has the token.
    #[error("device token taken")]
    TokenTaken,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for UserDeviceError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::TokenTaken => FaultKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::TokenTaken => "token_taken",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Dispositivo não encontrado", "Device not found"),
            Self::TokenTaken => Text::new("Token já cadastrado", "Token already registered"),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::TokenTaken => Some("token"),
            _ => None,
        }
    }
}
