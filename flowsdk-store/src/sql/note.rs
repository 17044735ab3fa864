//! Notes on conversations.

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, RouterId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_helpdesk::note::{HasNotes, Note, NoteRepository};

use super::SqlTx;
use super::list::{Filter, ListSql, given};
use super::record::record;
use super::statement::{RowsSql, Sql, sql_list};

record! {
    Note in "ticket_note" {
        id, router_id, chat_id, ticket_id, author_user_id, text, mentioned_user_ids: json, created_at
    }
}

static INSERT: RowsSql = RowsSql::insert::<Note>("");

/// Those of a chat: a chat is of one router.
pub(super) static LIST: ListSql<ChatId> = ListSql::of::<Note>().filters(&[Filter::of("chat_id = {}", given)
    .always()
    .indexed("ticket_note_by_chat", "ticket_note_by_chat")]);

const AGENTS_AMONG: Sql = sql_list!("SELECT user_id FROM agent WHERE router_id = $2 AND user_id ", "$1", "");

super::statement::statements! { AGENTS_AMONG; INSERT, LIST }

super::accessor::has!(HasNotes::notes -> NoteRepository);

#[async_trait]
impl NoteRepository for SqlTx {
    async fn insert(&mut self, note: &Note) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, std::slice::from_ref(note)).await.map(drop)
    }

    async fn of_chat(&mut self, chat: &ChatId, page: &PageRequest) -> Result<Page<Note>, StorageError> {
        self.conn.page(&LIST, chat, None, page, Note::place).await
    }

    async fn agents_among(
        &mut self,
        router: &RouterId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StorageError> {
        self.conn.fetch_column(AGENTS_AMONG, (Json(users), router)).await
    }
}
