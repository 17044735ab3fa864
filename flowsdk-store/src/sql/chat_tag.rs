//! Labels of chats.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::chat::{ChatTag, ChatTagRepository, HasChatTags};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ChatId;

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql};

record! {
    ChatTag in "chat_tag" { chat_id, tag, created_at }
}

static INSERT: RowsSql = RowsSql::insert::<ChatTag>(" ON CONFLICT (chat_id, tag) DO NOTHING");

const OF_CHAT: Sql = sql(concat!(ChatTag::SELECT, " WHERE chat_id = $1 ORDER BY tag"));

super::statement::statements! { OF_CHAT; INSERT }

super::accessor::has!(HasChatTags::chat_tags -> ChatTagRepository);

#[async_trait]
impl ChatTagRepository for SqlTx {
    async fn add_many(&mut self, tags: &[ChatTag]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, tags).await.map(drop)
    }

    async fn of_chat(&mut self, chat: &ChatId) -> Result<Vec<ChatTag>, StorageError> {
        self.conn.fetch_all(OF_CHAT, (chat,)).await
    }
}
