//! Storage of devices.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::page::{Page, PageRequest};

use super::UserDevice;

/// Devices of one transaction.
#[async_trait]
pub trait UserDeviceRepository: Send {
    /// This device of this user.
    async fn find(&mut self, user: &UserId, id: &UserDeviceId) -> Result<Option<UserDevice>, StorageError>;

    /// Returns a page of the user's devices, newest first.
    async fn list(&mut self, user: &UserId, page: &PageRequest) -> Result<Page<UserDevice>, StorageError>;

    /// Creates a device, or sets the user and platform of the one with the same token; returns the stored device,
    /// under the id that it had.
    async fn put(&mut self, device: &UserDevice) -> Result<UserDevice, StorageError>;

    /// Writes token and platform of a device.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when another has the token.
    async fn save(&mut self, device: &UserDevice) -> Result<(), StorageError>;

    /// Deletes this device of this user; whether it existed.
    async fn delete(&mut self, user: &UserId, id: &UserDeviceId) -> Result<bool, StorageError>;
}

/// A transaction with devices of users.
pub trait HasUserDevices: Send {
    /// Returns the repository of this transaction.
    fn user_devices(&mut self) -> &mut dyn UserDeviceRepository;
}
