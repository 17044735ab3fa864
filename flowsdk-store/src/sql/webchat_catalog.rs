//! Channels of the web chat, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_channels::webchat::channels::{HasWebchatCatalog, WebchatCatalog};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, RouterId};
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{Changes, Record as _};
use super::row::corrupt;
use super::statement::{Sql, sql, sql_locking};

pub(super) static LIST: ListSql = ListSql::of::<WebchatChannel>().within("router_id");

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(WebchatChannel::SELECT, " WHERE id = $1"));

const FIND_TEST_FOR_UPDATE: Sql =
    sql_locking!(concat!(WebchatChannel::SELECT, " WHERE router_id = $1 AND is_test_channel = 1"));

const INSERT_TEST: Sql = sql("INSERT INTO webchat_channel (id, router_id, name, is_test_channel, created_at)
     VALUES ($1, $2, $3, 1, $4) ON CONFLICT (router_id) WHERE is_test_channel = 1 DO NOTHING");

const SAVE: Sql = sql(WebchatChannel::UPDATE);

/// The foreign key takes the identities along.
const DELETE: Sql = sql("DELETE FROM webchat_channel WHERE id = $1");

super::statement::statements! { FIND_FOR_UPDATE, FIND_TEST_FOR_UPDATE, INSERT_TEST, SAVE, DELETE; LIST }

super::accessor::has!(HasWebchatCatalog::webchat_catalog -> WebchatCatalog);

#[async_trait]
impl WebchatCatalog for SqlTx {
    async fn list_channels(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<WebchatChannel>, StorageError> {
        self.conn.page(&LIST, &(), list::routers(router, only), page, Searched::place).await
    }

    async fn find_channel_for_update(
        &mut self,
        id: &ChannelId,
    ) -> Result<Option<WebchatChannel>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn test_channel_or_insert(
        &mut self,
        channel: &WebchatChannel,
    ) -> Result<WebchatChannel, StorageError> {
        let WebchatChannel { id, router_id, name, created_at, .. } = channel;
        self.conn.execute(INSERT_TEST, (id, router_id, name, created_at)).await?;
        let row = self.conn.fetch_optional(FIND_TEST_FOR_UPDATE, (router_id,)).await?;
        let found: WebchatChannel =
            row.ok_or_else(|| corrupt("webchat_channel")(&"the test channel is not there"))?;
        self.conn.save_channel(&(&found).into()).await?;
        Ok(found)
    }

    async fn save_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(channel)).await?;
        self.conn.save_channel(&channel.into()).await
    }

    async fn delete_channel(&mut self, id: &ChannelId) -> Result<(), StorageError> {
        self.conn.delete_webchat_channel(id).await?;
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
