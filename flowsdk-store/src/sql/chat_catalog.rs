//! Chats and messages, as they are administered.

use async_trait::async_trait;
use flowsdk_core::chat::{Chat, ChatCatalog, ChatFilter, ChatStatus};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId, RouterId};
use flowsdk_core::message::Message;
use flowsdk_core::page::{Page, PageRequest};
use sqlx::types::Json;

use super::chat::{ChatRow, chat};
use super::executor::{fetch_all_replanned, fetch_optional, optional_id};
use super::list::{self, Filter, ListSql};
use super::message::{MessageRow, message};
use super::statement::{Sql, sql};
use super::{SqlTx, page};

macro_rules! columns {
    ($rest:literal) => {
        concat!("SELECT id, contact_id, router_id, status, summary, created_at FROM chat", $rest)
    };
}

const FIND: Sql = sql(columns!(" WHERE id = $1"));

/// Open chats are few among all, and have indices of their own.
static LIST: ListSql = ListSql::new(
    columns!(""),
    "chat",
    ("created_at", "id"),
    ("chat", "created_at", "id", "router_id"),
    &[
        Filter::of("contact_id = {}"),
        Filter::of("status = 'open' AND CAST({} AS TEXT) IS NOT NULL"),
        Filter::of("status = 'closed' AND CAST({} AS TEXT) IS NOT NULL"),
    ],
);

const FIND_MESSAGE: Sql = sql(
    "SELECT id, chat_id, session_id, direction, kind, content, sender_kind, sender_name, status, channel_message_id,
        created_at, status_updated_at
     FROM message WHERE id = $1",
);

const ROUTER_OF: Sql = sql("SELECT router_id FROM chat WHERE id = $1");

super::statement::statements! { FIND, FIND_MESSAGE, ROUTER_OF; LIST }

#[cfg(test)]
pub(super) fn lists() -> [(&'static str, &'static ListSql); 1] {
    [("chat", &LIST)]
}

#[async_trait]
impl ChatCatalog for SqlTx {
    async fn find(&mut self, id: &ChatId) -> Result<Option<Chat>, StorageError> {
        fetch_optional!(self.conn, ChatRow, FIND, id.as_str())?.map(chat).transpose()
    }

    async fn list(
        &mut self,
        filter: &ChatFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Chat>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let is = |status| filter.status.filter(|asked| *asked == status).map(ChatStatus::name);
        let (open, closed) = (is(ChatStatus::Open), is(ChatStatus::Closed));
        let shape = [filter.contact_id.is_some(), open.is_some(), closed.is_some()];
        let (at, before) = page::before(page);
        let rows = fetch_all_replanned!(
            self.conn,
            ChatRow,
            LIST.of(routers.is_some(), &shape),
            at,
            before,
            page::rows(page),
            routers.map(Json),
            filter.contact_id.as_ref().map(|id| id.as_str()),
            open,
            closed,
        )?;
        page::of(rows, page, chat, |chat| (chat.created_at, chat.id.to_string()))
    }

    async fn find_message(
        &mut self,
        id: &MessageId,
    ) -> Result<Option<(Message, Option<RouterId>)>, StorageError> {
        let Some(row) = fetch_optional!(self.conn, MessageRow, FIND_MESSAGE, id.as_str())? else {
            return Ok(None);
        };
        let message = message(row)?;
        let router = fetch_optional!(self.conn, (Option<String>,), ROUTER_OF, message.chat_id.as_str())?;
        let router = optional_id("chat", router.and_then(|(router,)| router))?;
        Ok(Some((message, router)))
    }
}
