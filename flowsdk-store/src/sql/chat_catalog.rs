//! Chats and messages, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::chat::{Chat, ChatCatalog, ChatFilter, ChatStatus, HasChatCatalog};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId, RouterId};
use flowsdk_core::message::Message;
use flowsdk_core::page::{Cursor, Page, PageRequest};

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked, asked_if};
use super::record::Record as _;
use super::row::With;
use super::statement::{Sql, sql};

const FIND: Sql = sql(concat!(Chat::SELECT, " WHERE id = $1"));

/// Open chats are few among all, and have indices of their own.
pub(super) static LIST: ListSql<ChatFilter> =
    ListSql::of::<Chat>().within("router_id").replanned().filters(&[
        Filter::of("contact_id = {}", |filter| asked(&filter.contact_id)),
        Filter::of("status = 'open'", |filter| asked_if(filter.status == Some(ChatStatus::Open))),
        Filter::of("status = 'closed'", |filter| asked_if(filter.status == Some(ChatStatus::Closed))),
    ]);

/// With the router of its chat.
const FIND_MESSAGE: Sql = sql(concat!(
    "SELECT ",
    Message::COLUMNS,
    ", (SELECT router_id FROM chat WHERE chat.id = message.chat_id) FROM message WHERE id = $1"
));

super::statement::statements! { FIND, FIND_MESSAGE; LIST }

super::accessor::has!(HasChatCatalog::chat_catalog -> ChatCatalog);

#[async_trait]
impl ChatCatalog for SqlTx {
    async fn find(&mut self, id: &ChatId) -> Result<Option<Chat>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn list(
        &mut self,
        filter: &ChatFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Chat>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |chat: &Chat| Cursor::of(chat.created_at, &chat.id);
        self.conn.page(&LIST, filter, routers, page, place).await
    }

    async fn find_message(
        &mut self,
        id: &MessageId,
    ) -> Result<Option<(Message, Option<RouterId>)>, StorageError> {
        let row = self.conn.fetch_optional(FIND_MESSAGE, (id,)).await?;
        Ok(row.map(|With(message, (router,))| (message, router)))
    }
}
