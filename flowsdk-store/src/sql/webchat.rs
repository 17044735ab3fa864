//! Channels and identities of the web chat.

use async_trait::async_trait;
use flowsdk_channels::webchat::{WebchatChannel, WebchatIdentity, WebchatRepository};
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, ChatId, ContactId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, fetch_optional, id, json, optional_id, text};
use super::statement::{Sql, sql};

const FIND_CHANNEL: Sql =
    sql("SELECT id, router_id, name, is_test_channel, appearance, initial_flow_id, embed_secret_encrypted,
            allowed_origins, created_at
     FROM webchat_channel WHERE id = $1");

const INSERT_CHANNEL: Sql =
    sql("INSERT INTO webchat_channel (id, router_id, name, is_test_channel, appearance, initial_flow_id,
                                  embed_secret_encrypted, allowed_origins, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)");

const FIND_IDENTITY: Sql =
    sql("SELECT webchat_identity.id, webchat_identity.contact_id, webchat_identity.session_key_hash,
            webchat_identity.created_at
     FROM webchat_identity WHERE contact_identity = $2 AND channel_id = $1");

const INSERT_IDENTITY: Sql =
    sql("INSERT INTO webchat_identity (id, channel_id, contact_id, contact_identity, session_key_hash, created_at)
     VALUES ($1, $2, $3, (SELECT phone_number FROM contact WHERE id = $3), $4, $5)");

const FIND_CHAT: Sql =
    sql("SELECT chat.id FROM chat JOIN webchat_channel ON webchat_channel.router_id = chat.router_id
     WHERE webchat_channel.id = $1 AND chat.contact_id = $2
     ORDER BY CASE WHEN chat.status = 'open' THEN 0 ELSE 1 END, chat.created_at DESC, chat.id DESC LIMIT 1");

super::statement::statements! { FIND_CHANNEL, INSERT_CHANNEL, FIND_IDENTITY, INSERT_IDENTITY, FIND_CHAT }

/// Id, router, name, whether it is the test channel, appearance, flow, secret, origins, time.
pub(super) type ChannelRow = (
    String,
    String,
    String,
    i64,
    Option<Json<Value>>,
    Option<String>,
    Option<String>,
    Option<Json<Vec<String>>>,
    i64,
);

pub(super) fn webchat_channel(row: ChannelRow) -> Result<WebchatChannel, StorageError> {
    let (channel_id, router_id, name, is_test, appearance, flow, secret, origins, created_at) = row;
    Ok(WebchatChannel {
        id: id("webchat_channel", channel_id)?,
        router_id: id("webchat_channel", router_id)?,
        name,
        is_test_channel: is_test != 0,
        appearance: appearance.map(|Json(value)| value),
        initial_flow_id: optional_id("webchat_channel", flow)?,
        embed_secret: secret.map(Encrypted::from_stored),
        allowed_origins: origins.map(|Json(list)| list),
        created_at: Timestamp::from_millis(created_at),
    })
}

#[async_trait]
impl WebchatRepository for SqlTx {
    async fn find_channel(&mut self, channel: &ChannelId) -> Result<Option<WebchatChannel>, StorageError> {
        fetch_optional!(self.conn, ChannelRow, FIND_CHANNEL, channel.as_str())?
            .map(webchat_channel)
            .transpose()
    }

    async fn insert_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT_CHANNEL,
            channel.id.as_str(),
            channel.router_id.as_str(),
            text(&channel.name),
            i64::from(channel.is_test_channel),
            channel.appearance.as_ref().map(json).transpose()?,
            channel.initial_flow_id.as_ref().map(|id| id.as_str()),
            channel.embed_secret.as_ref().map(Encrypted::as_stored),
            channel.allowed_origins.as_ref().map(json).transpose()?,
            channel.created_at.as_millis(),
        )
        .map(drop)
    }

    async fn find_identity(
        &mut self,
        channel: &ChannelId,
        contact_identity: &str,
    ) -> Result<Option<WebchatIdentity>, StorageError> {
        type Row = (String, String, String, i64);
        let Some((identity_id, contact_id, session_key_hash, created_at)) =
            fetch_optional!(self.conn, Row, FIND_IDENTITY, channel.as_str(), contact_identity)?
        else {
            return Ok(None);
        };
        Ok(Some(WebchatIdentity {
            id: id("webchat_identity", identity_id)?,
            channel_id: channel.clone(),
            contact_id: id("webchat_identity", contact_id)?,
            session_key_hash,
            created_at: Timestamp::from_millis(created_at),
        }))
    }

    async fn insert_identity(&mut self, identity: &WebchatIdentity) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT_IDENTITY,
            identity.id.as_str(),
            identity.channel_id.as_str(),
            identity.contact_id.as_str(),
            identity.session_key_hash.as_str(),
            identity.created_at.as_millis(),
        )
        .map(drop)
    }

    async fn find_chat(
        &mut self,
        channel: &ChannelId,
        contact: &ContactId,
    ) -> Result<Option<ChatId>, StorageError> {
        let row = fetch_optional!(self.conn, (String,), FIND_CHAT, channel.as_str(), contact.as_str())?;
        optional_id("chat", row.map(|(chat,)| chat))
    }
}
