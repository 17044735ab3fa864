//! Channels and identities of the web chat.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::webchat::{HasWebchat, WebchatChannel, WebchatIdentity, WebchatRepository};
use flowsdk_core::cell::Json;
use flowsdk_core::chat::ChatStatus;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, ChatId, ContactId, IdentityId};

use super::SqlTx;
use super::record::{All, Record as _, record};
use super::statement::{Sql, sql, sql_list, sql_per};

record! {
    WebchatChannel in "webchat_channel" {
        id, router_id, purpose = is_test_channel, created_at;
        name, appearance: json_or_null, initial_flow_id, embed_secret = embed_secret_encrypted,
        allowed_origins: json_or_null, start_on, fallback_texts: json_unless_empty, attachments: json_or_null
    }
}

record! {
    WebchatIdentity in "webchat_identity" {
        id, channel_id, contact_id, session_key_hash, created_at;
        session_key_digest
    }
}

const FIND_CHANNEL: Sql = sql(concat!(WebchatChannel::SELECT, " WHERE id = $1"));

const EMBED_SECRETS: Sql =
    sql_list!("SELECT id, embed_secret_encrypted FROM webchat_channel WHERE id ", "$1", "");

const INSERT_CHANNEL: Sql = sql(WebchatChannel::INSERT);

const FIND_IDENTITY: Sql =
    sql(concat!(WebchatIdentity::SELECT, " WHERE contact_identity = $2 AND channel_id = $1"));

const INSERT_IDENTITY: Sql = sql(concat!(
    "INSERT INTO webchat_identity (",
    WebchatIdentity::COLUMNS,
    ", contact_identity) VALUES ($1, $2, $3, $4, $5, $6, (SELECT phone_number FROM contact WHERE id = $3))"
));

const NOTE_KEY_DIGEST: Sql =
    sql("UPDATE webchat_identity SET session_key_digest = $2 WHERE id = $1 AND session_key_digest IS NULL");

/// SQLite, which keeps no statistics here, is told the index: it would read every chat of the router.
const FIND_CHAT: Sql =
    sql_per(concat!(CHAT_OF, " INDEXED BY chat_by_contact", WITH_CHANNEL), concat!(CHAT_OF, WITH_CHANNEL));
const CHAT_OF: &str = "SELECT chat.id, chat.status FROM chat";
const WITH_CHANNEL: &str = " JOIN webchat_channel ON webchat_channel.router_id = chat.router_id
     WHERE webchat_channel.id = $1 AND chat.contact_id = $2
     ORDER BY CASE WHEN chat.status = 'open' THEN 0 ELSE 1 END, chat.created_at DESC, chat.id DESC LIMIT 1";

super::statement::statements! { FIND_CHANNEL, EMBED_SECRETS, INSERT_CHANNEL, FIND_IDENTITY, INSERT_IDENTITY, NOTE_KEY_DIGEST, FIND_CHAT }

super::accessor::has!(HasWebchat::webchat -> WebchatRepository);

#[async_trait]
impl WebchatRepository for SqlTx {
    async fn find_channel(&mut self, channel: &ChannelId) -> Result<Option<WebchatChannel>, StorageError> {
        self.conn.fetch_optional(FIND_CHANNEL, (channel,)).await
    }

    async fn embed_secrets(
        &mut self,
        channels: &[ChannelId],
    ) -> Result<Vec<(ChannelId, Option<Encrypted>)>, StorageError> {
        self.conn.fetch_all(EMBED_SECRETS, (Json(channels),)).await
    }

    async fn insert_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError> {
        self.conn.execute(INSERT_CHANNEL, All(channel)).await?;
        self.conn.insert_channels(&[channel.into()]).await
    }

    async fn find_identity(
        &mut self,
        channel: &ChannelId,
        contact_identity: &str,
    ) -> Result<Option<WebchatIdentity>, StorageError> {
        self.conn.fetch_optional(FIND_IDENTITY, (channel, contact_identity)).await
    }

    async fn note_key_digest(&mut self, identity: &IdentityId, digest: &str) -> Result<(), StorageError> {
        self.conn.execute(NOTE_KEY_DIGEST, (identity, digest)).await.map(drop)
    }

    async fn insert_identity(&mut self, identity: &WebchatIdentity) -> Result<(), StorageError> {
        self.conn.execute(INSERT_IDENTITY, All(identity)).await.map(drop)
    }

    async fn find_chat(
        &mut self,
        channel: &ChannelId,
        contact: &ContactId,
    ) -> Result<Option<(ChatId, ChatStatus)>, StorageError> {
        self.conn.fetch_optional(FIND_CHAT, (channel, contact)).await
    }
}
