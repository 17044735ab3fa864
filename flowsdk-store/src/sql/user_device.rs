//! Devices of users.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::device::{HasUserDevices, UserDevice, UserDeviceRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::page::{Cursor, Page, PageRequest};

use super::SqlTx;
use super::list::{Filter, ListSql, given};
use super::record::{All, Record as _, record};
use super::statement::{Sql, sql};

record! {
    UserDevice in "user_device" { id, user_id, created_at; token, platform, updated_at }
}

const FIND: Sql = sql(concat!(UserDevice::SELECT, " WHERE id = $2 AND user_id = $1"));

pub(super) static LIST: ListSql<UserId> =
    ListSql::of::<UserDevice>().filters(&[Filter::of("user_id = {}", given).always()]);

const PUT: Sql = sql(concat!(
    UserDevice::INSERT,
    " ON CONFLICT (token) DO UPDATE SET user_id = excluded.user_id, platform = excluded.platform,
        updated_at = excluded.updated_at
     RETURNING ",
    UserDevice::COLUMNS
));

const SAVE: Sql = sql("UPDATE user_device SET token = $3, platform = $4, updated_at = $5
     WHERE id = $2 AND user_id = $1");

const DELETE: Sql = sql("DELETE FROM user_device WHERE id = $2 AND user_id = $1");

super::statement::statements! { FIND, PUT, SAVE, DELETE; LIST }

super::accessor::has!(HasUserDevices::user_devices -> UserDeviceRepository);

#[async_trait]
impl UserDeviceRepository for SqlTx {
    async fn find(&mut self, user: &UserId, id: &UserDeviceId) -> Result<Option<UserDevice>, StorageError> {
        self.conn.fetch_optional(FIND, (user, id)).await
    }

    async fn list(&mut self, user: &UserId, page: &PageRequest) -> Result<Page<UserDevice>, StorageError> {
        let place = |device: &UserDevice| Cursor::of(device.created_at, &device.id);
        self.conn.page(&LIST, user, None, page, place).await
    }

    async fn put(&mut self, new: &UserDevice) -> Result<UserDevice, StorageError> {
        let row = self.conn.fetch_optional(PUT, All(new)).await?;
        // An upsert always gives its row.
        row.ok_or(StorageError::Stale { entity: "user_device" })
    }

    async fn save(&mut self, device: &UserDevice) -> Result<(), StorageError> {
        let UserDevice { id, user_id, token, platform, updated_at, .. } = device;
        self.conn.execute(SAVE, (user_id, id, token, platform, updated_at)).await.map(drop)
    }

    async fn delete(&mut self, user: &UserId, id: &UserDeviceId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(DELETE, (user, id)).await? == 1)
    }
}
