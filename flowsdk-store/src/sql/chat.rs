//! Chats.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::chat::{Chat, ChatRepository, HasChats};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql_list, sql_per};

record! {
    Chat in "chat" { id, contact_id, router_id, status, summary, created_at, window_ends_at }
}

/// The partial unique index decides: at most one open chat a contact and router.
static OPEN: RowsSql =
    RowsSql::insert::<Chat>(" ON CONFLICT (contact_id, router_id) WHERE status = 'open' DO NOTHING");

const FIND_OPEN: Sql = sql_list!(concat!(Chat::SELECT, " WHERE status = 'open' AND contact_id "), "$1", "");

const OF_MESSAGES: Sql = sql_list!(
    concat!(Chat::SELECT, " WHERE id IN (SELECT chat_id FROM message WHERE message.id "),
    "$1",
    ")"
);

/// A router knows every contact that has a chat with it.
const LINK: Sql = sql_list!(
    "INSERT INTO contact_router (router_id, contact_created_at, contact_id)
     SELECT chat.router_id, contact.created_at, contact.id FROM chat JOIN contact ON contact.id = chat.contact_id
     WHERE chat.router_id IS NOT NULL AND chat.id ",
    "$1",
    " ON CONFLICT (contact_id, router_id) DO NOTHING RETURNING contact_id, router_id"
);

const CLOSE: Sql = sql_list!("UPDATE chat SET status = 'closed' WHERE id ", "$1", "");

/// `$1` lists `[chat, time]`.
const EXTEND_WINDOWS: Sql = sql_per(
    "UPDATE chat SET window_ends_at = told.value ->> 1 FROM json_each($1) AS told
     WHERE chat.id = told.value ->> 0 AND (window_ends_at IS NULL OR window_ends_at < told.value ->> 1)",
    "UPDATE chat SET window_ends_at = CAST(told.value ->> 1 AS bigint) FROM jsonb_array_elements($1) AS told (value)
     WHERE chat.id = told.value ->> 0
        AND (window_ends_at IS NULL OR window_ends_at < CAST(told.value ->> 1 AS bigint))",
);

/// Those that were told after `$3` stay as they are.
const NOTE_TOLD: Sql = sql_list!(
    "UPDATE chat SET told_at = $2 WHERE id ",
    "$1",
    " AND (told_at IS NULL OR told_at <= $3) RETURNING id"
);

super::statement::statements! { FIND_OPEN, OF_MESSAGES, LINK, CLOSE, NOTE_TOLD, EXTEND_WINDOWS; OPEN }

super::accessor::has!(HasChats::chats -> ChatRepository);

#[async_trait]
impl ChatRepository for SqlTx {
    async fn open_or_get_many(&mut self, chats: &[Chat]) -> Result<Vec<Chat>, StorageError> {
        let opened = self.conn.insert_rows(&OPEN, chats).await?;
        if opened > 0 {
            let ids: Vec<_> = chats.iter().map(|chat| &chat.id).collect();
            let known = self.conn.fetch_all(LINK, (Json(&ids),)).await?;
            self.note_known(known);
        }
        let contacts: Vec<_> = chats.iter().map(|chat| &chat.contact_id).collect();
        let open = self.conn.fetch_all::<Chat>(FIND_OPEN, (Json(&contacts),)).await?;
        let open: HashMap<_, _> =
            open.into_iter().map(|chat| ((chat.contact_id.clone(), chat.router_id.clone()), chat)).collect();
        let pick = |chat: &Chat| open.get(&(chat.contact_id.clone(), chat.router_id.clone())).cloned();
        chats
            .iter()
            .map(|chat| {
                // Closed by another between the two statements: the same work may succeed at once.
                pick(chat).ok_or(StorageError::Stale { entity: "chat" })
            })
            .collect()
    }

    async fn note_told(
        &mut self,
        ids: &[ChatId],
        now: Timestamp,
        before: Duration,
    ) -> Result<Vec<ChatId>, StorageError> {
        self.conn.fetch_column(NOTE_TOLD, (Json(ids), now, now - before)).await
    }

    async fn of_messages(&mut self, messages: &[MessageId]) -> Result<Vec<Chat>, StorageError> {
        self.conn.fetch_all(OF_MESSAGES, (Json(messages),)).await
    }

    async fn extend_windows(&mut self, ends: &BTreeMap<ChatId, Timestamp>) -> Result<(), StorageError> {
        let rows: Vec<_> = ends.iter().map(|(chat, end)| (chat.clone(), end.as_millis())).collect();
        self.conn.execute(EXTEND_WINDOWS, (Json(&rows),)).await.map(drop)
    }

    async fn close_many(&mut self, ids: &[ChatId]) -> Result<(), StorageError> {
        self.conn.execute(CLOSE, (Json(ids),)).await.map(drop)
    }
}
