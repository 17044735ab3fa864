//! Labels of chats.

use async_trait::async_trait;
use flowsdk_core::chat::{ChatTag, ChatTagRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ChatId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{execute_rows, fetch_all, id, text};
use super::statement::{RowsSql, Sql, sql};

static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO chat_tag (chat_id, tag, created_at) VALUES ",
    3,
    " ON CONFLICT (chat_id, tag) DO NOTHING",
);

const OF_CHAT: Sql = sql("SELECT chat_id, tag, created_at FROM chat_tag WHERE chat_id = $1 ORDER BY tag");

super::statement::statements! { OF_CHAT; INSERT }

#[async_trait]
impl ChatTagRepository for SqlTx {
    async fn add_many(&mut self, tags: &[ChatTag]) -> Result<(), StorageError> {
        execute_rows!(self.conn, INSERT, tags, |query, tag| query
            .bind(tag.chat_id.as_str())
            .bind(text(&tag.tag))
            .bind(tag.created_at.as_millis()))
        .await
        .map(drop)
    }

    async fn of_chat(&mut self, chat: &ChatId) -> Result<Vec<ChatTag>, StorageError> {
        let rows = fetch_all!(self.conn, (String, String, i64), OF_CHAT, chat.as_str())?;
        rows.into_iter()
            .map(|(chat_id, tag, created_at)| {
                let created_at = Timestamp::from_millis(created_at);
                Ok(ChatTag { chat_id: id("chat_tag", chat_id)?, tag, created_at })
            })
            .collect()
    }
}
