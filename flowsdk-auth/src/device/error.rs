//! Why a use case of devices fails.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason why a user device use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum UserDeviceError {
    /// The user has no such device.
    #[error("no such device")]
    #[fault(NotFound, "not_found", pt = "Dispositivo não encontrado", en = "Device not found")]
    NotFound,
    /// Another device has the token.
    #[error("device token taken")]
    #[fault(
        Conflict,
        "token_taken",
        pt = "Token já cadastrado",
        en = "Token already registered",
        field = "token"
    )]
    TokenTaken,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
