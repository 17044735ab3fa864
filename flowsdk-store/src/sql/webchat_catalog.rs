//! Channels of the web chat, as they are administered.

use async_trait::async_trait;
use flowsdk_channels::webchat::WebchatChannel;
use flowsdk_channels::webchat::channels::WebchatCatalog;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use sqlx::types::Json;

use super::executor::{corrupt, execute, fetch_all, fetch_optional, json, text};
use super::statement::{Sql, sql, sql_list, sql_locking};
use super::webchat::{ChannelRow, webchat_channel};
use super::{SqlTx, page};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, router_id, name, is_test_channel, appearance, initial_flow_id, embed_secret_encrypted,
                allowed_origins, created_at FROM webchat_channel WHERE ",
            $rest
        )
    };
}

const LIST: Sql = sql(select!(
    "(router_id = $4 OR $4 IS NULL) AND (created_at, id) < ($1, $2)
     ORDER BY created_at DESC, id DESC LIMIT $3"
));

const LIST_AMONG: Sql = sql_list!(
    select!("router_id IN "),
    "$5",
    " AND (router_id = $4 OR $4 IS NULL) AND (created_at, id) < ($1, $2)
     ORDER BY created_at DESC, id DESC LIMIT $3"
);

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const FIND_TEST_FOR_UPDATE: Sql = sql_locking!(select!("router_id = $1 AND is_test_channel = 1"));

const INSERT_TEST: Sql = sql("INSERT INTO webchat_channel (id, router_id, name, is_test_channel, created_at)
     VALUES ($1, $2, $3, 1, $4) ON CONFLICT (router_id) WHERE is_test_channel = 1 DO NOTHING");

const SAVE: Sql = sql("UPDATE webchat_channel SET name = $2, appearance = $3, initial_flow_id = $4,
        embed_secret_encrypted = $5, allowed_origins = $6 WHERE id = $1");

/// The foreign key takes the identities along.
const DELETE: Sql = sql("DELETE FROM webchat_channel WHERE id = $1");

super::statement::statements! { LIST, LIST_AMONG, FIND_FOR_UPDATE, FIND_TEST_FOR_UPDATE, INSERT_TEST, SAVE, DELETE }

#[async_trait]
impl WebchatCatalog for SqlTx {
    async fn list_channels(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<WebchatChannel>, StorageError> {
        let ((at, before), limit) = (page::before(page), page::rows(page));
        let router = router.map(RouterId::as_str);
        let rows = match only {
            None => fetch_all!(self.conn, ChannelRow, LIST, at, before, limit, router)?,
            Some(only) => {
                fetch_all!(self.conn, ChannelRow, LIST_AMONG, at, before, limit, router, Json(only))?
            }
        };
        page::of(rows, page, webchat_channel, |one| (one.created_at, one.id.to_string()))
    }

    async fn find_channel_for_update(
        &mut self,
        id: &ChannelId,
    ) -> Result<Option<WebchatChannel>, StorageError> {
        let row = fetch_optional!(self.conn, ChannelRow, FIND_FOR_UPDATE, id.as_str())?;
        row.map(webchat_channel).transpose()
    }

    async fn test_channel_or_insert(
        &mut self,
        channel: &WebchatChannel,
    ) -> Result<WebchatChannel, StorageError> {
        execute!(
            self.conn,
            INSERT_TEST,
            channel.id.as_str(),
            channel.router_id.as_str(),
            text(&channel.name),
            channel.created_at.as_millis(),
        )?;
        let router = channel.router_id.as_str();
        let row = fetch_optional!(self.conn, ChannelRow, FIND_TEST_FOR_UPDATE, router)?;
        row.map(webchat_channel)
            .transpose()?
            .ok_or_else(|| corrupt("webchat_channel")(&"the test channel is not there"))
    }

    async fn save_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            channel.id.as_str(),
            text(&channel.name),
            channel.appearance.as_ref().map(json).transpose()?,
            channel.initial_flow_id.as_ref().map(|id| id.as_str()),
            channel.embed_secret.as_ref().map(Encrypted::as_stored),
            channel.allowed_origins.as_ref().map(json).transpose()?,
        )
        .map(drop)
    }

    async fn delete_channel(&mut self, id: &ChannelId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
