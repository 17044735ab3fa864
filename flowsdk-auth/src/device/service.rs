//! The use cases of devices; each user has their own.

use std::sync::Arc;

use flowsdk_core::change::{Change, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::store::{Store, Transaction as _};

use super::{HasUserDevices, NewUserDevice, UserDevice, UserDeviceChange, UserDeviceError};
use crate::audit::AuditRecorder;
use crate::principal::Actor;

/// Registers, shows, changes and deletes devices.
#[derive(Debug)]
pub struct UserDevices<S> {
    store: Arc<S>,
    cx: OpContext,
    audit: AuditRecorder,
}

impl<S: Store> UserDevices<S>
where
    S::Tx: HasUserDevices,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, audit: AuditRecorder) -> Self {
        Self { store, cx, audit }
    }

    /// Registers a device. One that is known by its token changes hands: whoever has it last gets its
    /// notifications.
    ///
    /// # Errors
    /// [`UserDeviceError::Storage`].
    pub async fn register(
        &self,
        actor: &Actor,
        user: &UserId,
        new: NewUserDevice,
    ) -> Result<UserDevice, UserDeviceError> {
        let now = self.cx.now();
        let device = UserDevice {
            id: UserDeviceId::generate(self.cx.ids()),
            user_id: user.clone(),
            token: new.token,
            platform: new.platform,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.store.begin().await?;
        let device = tx.user_devices().put(&device).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &device, &Change::Created(device.to_json()));
        Ok(device)
    }

    /// Returns a device of the user.
    ///
    /// # Errors
    /// [`UserDeviceError::NotFound`], [`UserDeviceError::Storage`].
    pub async fn get(&self, user: &UserId, id: &UserDeviceId) -> Result<UserDevice, UserDeviceError> {
        let found = self.store.read().await?.user_devices().find(user, id).await?;
        found.ok_or(UserDeviceError::NotFound)
    }

    /// Returns a page of the user's devices, newest first.
    ///
    /// # Errors
    /// [`UserDeviceError::Storage`].
    pub async fn list(&self, user: &UserId, page: &PageRequest) -> Result<Page<UserDevice>, UserDeviceError> {
        Ok(self.store.read().await?.user_devices().list(user, page).await?)
    }

    /// Changes a device of the user.
    ///
    /// # Errors
    /// Any [`UserDeviceError`].
    pub async fn change(
        &self,
        actor: &Actor,
        user: &UserId,
        id: &UserDeviceId,
        change: UserDeviceChange,
    ) -> Result<UserDevice, UserDeviceError> {
        let mut tx = self.store.begin().await?;
        let before = tx.user_devices().find(user, id).await?.ok_or(UserDeviceError::NotFound)?;
        let device = change.apply(before.clone(), self.cx.now());
        tx.user_devices().save(&device).await.map_err(token_taken)?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &device, &Change::updated(&before, &device));
        Ok(device)
    }

    /// Deletes a device of the user.
    ///
    /// # Errors
    /// [`UserDeviceError::NotFound`], [`UserDeviceError::Storage`].
    pub async fn delete(
        &self,
        actor: &Actor,
        user: &UserId,
        id: &UserDeviceId,
    ) -> Result<(), UserDeviceError> {
        let mut tx = self.store.begin().await?;
        let before = tx.user_devices().find(user, id).await?.ok_or(UserDeviceError::NotFound)?;
        if !tx.user_devices().delete(user, id).await? {
            return Err(UserDeviceError::NotFound);
        }
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &before, &Change::Deleted(before.to_json()));
        Ok(())
    }
}

/// Returns the only unique rule that a change can break.
fn token_taken(error: StorageError) -> UserDeviceError {
    match error {
        StorageError::Unique { .. } => UserDeviceError::TokenTaken,
        other => UserDeviceError::Storage(other),
    }
}
