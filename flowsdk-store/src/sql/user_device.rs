//! Devices of users.

use async_trait::async_trait;
use flowsdk_auth::device::{UserDevice, UserDeviceRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::executor::{execute, fetch_all, fetch_optional, id, text};
use super::statement::{Sql, sql};
use super::{SqlTx, page};

type Row = (String, String, String, String, i64, i64);

fn device(row: Row) -> Result<UserDevice, StorageError> {
    let (device_id, user_id, token, platform, created_at, updated_at) = row;
    Ok(UserDevice {
        id: id("user_device", device_id)?,
        user_id: id("user_device", user_id)?,
        token,
        platform,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

const FIND: Sql = sql("SELECT id, user_id, token, platform, created_at, updated_at FROM user_device
     WHERE id = $2 AND user_id = $1");

const LIST: Sql = sql("SELECT id, user_id, token, platform, created_at, updated_at FROM user_device
     WHERE user_id = $4 AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3");

const PUT: Sql = sql("INSERT INTO user_device (id, user_id, token, platform, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (token) DO UPDATE SET user_id = excluded.user_id, platform = excluded.platform,
        updated_at = excluded.updated_at
     RETURNING id, user_id, token, platform, created_at, updated_at");

const SAVE: Sql = sql("UPDATE user_device SET token = $3, platform = $4, updated_at = $5
     WHERE id = $2 AND user_id = $1");

const DELETE: Sql = sql("DELETE FROM user_device WHERE id = $2 AND user_id = $1");

super::statement::statements! { FIND, LIST, PUT, SAVE, DELETE }

#[async_trait]
impl UserDeviceRepository for SqlTx {
    async fn find(&mut self, user: &UserId, id: &UserDeviceId) -> Result<Option<UserDevice>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, user.as_str(), id.as_str())?.map(device).transpose()
    }

    async fn list(&mut self, user: &UserId, page: &PageRequest) -> Result<Page<UserDevice>, StorageError> {
        let (at, before) = page::before(page);
        let rows = fetch_all!(self.conn, Row, LIST, at, before, page::rows(page), user.as_str())?;
        page::of(rows, page, device, |device| (device.created_at, device.id.to_string()))
    }

    async fn put(&mut self, new: &UserDevice) -> Result<UserDevice, StorageError> {
        let row = fetch_optional!(
            self.conn,
            Row,
            PUT,
            new.id.as_str(),
            new.user_id.as_str(),
            text(&new.token),
            text(&new.platform),
            new.created_at.as_millis(),
            new.updated_at.as_millis(),
        )?;
        // An upsert always gives its row.
        row.map(device).transpose()?.ok_or(StorageError::Stale { entity: "user_device" })
    }

    async fn save(&mut self, device: &UserDevice) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            device.user_id.as_str(),
            device.id.as_str(),
            text(&device.token),
            text(&device.platform),
            device.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, user: &UserId, id: &UserDeviceId) -> Result<bool, StorageError> {
        Ok(execute!(self.conn, DELETE, user.as_str(), id.as_str())? == 1)
    }
}
