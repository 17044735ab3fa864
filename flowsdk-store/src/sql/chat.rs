//! Chats.

use std::collections::HashMap;

use async_trait::async_trait;
use flowsdk_core::chat::{Chat, ChatRepository, ChatStatus};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ChatId;
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, execute_rows, fetch_all, id, optional_id};
use super::statement::{RowsSql, Sql, sql_list};

pub(super) type ChatRow = (String, String, Option<String>, String, Option<String>, i64);

pub(super) fn chat(row: ChatRow) -> Result<Chat, StorageError> {
    let (chat_id, contact_id, router_id, status, summary, created_at) = row;
    Ok(Chat {
        id: id("chat", chat_id)?,
        contact_id: id("chat", contact_id)?,
        router_id: optional_id("chat", router_id)?,
        status: if status == "open" { ChatStatus::Open } else { ChatStatus::Closed },
        summary,
        created_at: Timestamp::from_millis(created_at),
    })
}

/// The partial unique index decides: at most one open chat a contact and router.
static OPEN: RowsSql = RowsSql::new(
    "INSERT INTO chat (id, contact_id, router_id, status, created_at) VALUES ",
    5,
    " ON CONFLICT (contact_id, router_id) WHERE status = 'open' DO NOTHING",
);

const FIND_OPEN: Sql = sql_list!(
    "SELECT id, contact_id, router_id, status, summary, created_at FROM chat WHERE status = 'open' AND contact_id IN ",
    "$1",
    ""
);

/// A router knows whoever has a chat with it.
const LINK: Sql = sql_list!(
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT chat.router_id, contact.created_at, contact.id FROM chat JOIN contact ON contact.id = chat.contact_id
     WHERE chat.router_id IS NOT NULL AND chat.id IN ",
    "$1",
    " ON CONFLICT (contact_id, router_id) DO NOTHING"
);

const CLOSE: Sql = sql_list!("UPDATE chat SET status = 'closed' WHERE id IN ", "$1", "");

super::statement::statements! { FIND_OPEN, LINK, CLOSE; OPEN }

#[async_trait]
impl ChatRepository for SqlTx {
    async fn open_or_get_many(&mut self, chats: &[Chat]) -> Result<Vec<Chat>, StorageError> {
        let opened = execute_rows!(self.conn, OPEN, chats, |query, chat| query
            .bind(chat.id.as_str())
            .bind(chat.contact_id.as_str())
            .bind(chat.router_id.as_ref().map(|id| id.as_str()))
            .bind(chat.status.name())
            .bind(chat.created_at.as_millis()))
        .await?;
        if opened > 0 {
            let ids: Vec<_> = chats.iter().map(|chat| &chat.id).collect();
            execute!(self.conn, LINK, Json(&ids))?;
        }
        let contacts: Vec<_> = chats.iter().map(|chat| &chat.contact_id).collect();
        let mut open = HashMap::new();
        for row in fetch_all!(self.conn, ChatRow, FIND_OPEN, Json(&contacts))? {
            let chat = chat(row)?;
            open.insert((chat.contact_id.clone(), chat.router_id.clone()), chat);
        }
        let pick = |chat: &Chat| open.get(&(chat.contact_id.clone(), chat.router_id.clone())).cloned();
        chats
            .iter()
            .map(|chat| {
                // Closed by another between the two statements: the same work may succeed at once.
                pick(chat).ok_or(StorageError::Stale { entity: "chat" })
            })
            .collect()
    }

    async fn close_many(&mut self, ids: &[ChatId]) -> Result<(), StorageError> {
        execute!(self.conn, CLOSE, Json(ids)).map(drop)
    }
}
