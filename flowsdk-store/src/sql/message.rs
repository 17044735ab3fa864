//! Messages.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::message::{
    HasMessages, HistoryQuery, Message, MessageRepository, MessageStatus, Page, Sender, SenderKind,
    StatusWrite,
};
use flowsdk_core::session::SessionId;

use super::SqlTx;
use super::bind::Binder;
use super::executor::text;
use super::record::{Part, Record as _, record};
use super::row::Cells;
use super::statement::{RowsSql, Sql, sql, sql_list};

record! {
    Message in "message" {
        id, chat_id, session_id, direction, kind, content: json, sender as Option<Sender>, status,
        channel_message_id, created_at, status_updated_at
    }
}

impl Part for Option<Sender> {
    const COLUMNS: &'static str = "sender_kind, sender_name";
    const COUNT: usize = 2;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        let kind: Option<SenderKind> = cells.of(table, "sender_kind")?;
        let name = cells.of(table, "sender_name")?;
        Ok(kind.map(|kind| Sender { kind, name }))
    }

    fn bind(&self, to: &mut Binder<'_>) {
        let sender = self.as_ref();
        to.bind(sender.map(|sender| &sender.kind)).bind(sender.and_then(|sender| sender.name.as_deref()));
    }
}

static INSERT: RowsSql = RowsSql::insert::<Message>("");

const FIND_BY_CHANNEL_ID: Sql =
    sql_list!("SELECT channel_message_id, id FROM message WHERE channel_message_id IN ", "$1", "");

/// `$3` lists the ids, `$4` the statuses from which `$1` may come.
const ADVANCE: Sql = super::statement::sql_per(
    "UPDATE message SET status = $1, status_updated_at = $2
     WHERE id IN (SELECT value FROM json_each($3)) AND status IN (SELECT value FROM json_each($4))",
    "UPDATE message SET status = $1, status_updated_at = $2
     WHERE id IN (SELECT jsonb_array_elements_text($3)) AND status IN (SELECT jsonb_array_elements_text($4))",
);

/// The same for messages of sessions: `$2` lists them as `[id, session, at]`, `$3` the statuses.
const ADVANCE_IN_SESSION: Sql = super::statement::sql_per(
    "UPDATE message SET status = $1, status_updated_at = said.value ->> 2 FROM json_each($2) AS said
     WHERE message.id = said.value ->> 0 AND session_id = said.value ->> 1
        AND status IN (SELECT value FROM json_each($3))",
    "UPDATE message SET status = $1, status_updated_at = CAST(said.value ->> 2 AS bigint)
     FROM jsonb_array_elements($2) AS said (value)
     WHERE message.id = said.value ->> 0 AND session_id = said.value ->> 1
        AND status IN (SELECT jsonb_array_elements_text($3))",
);

const HISTORY: Sql = sql(concat!(
    Message::SELECT,
    " WHERE chat_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4"
));

const PLACE: Sql = sql("SELECT created_at, id FROM message WHERE id = $1 AND session_id = $2");

/// By chat, because chats are indexed; sessions of one chat are few.
const OUTGOING_SINCE: Sql = sql(concat!(
    Message::SELECT,
    " WHERE chat_id = $1 AND session_id = $2 AND direction = 'out' AND (created_at, id) > ($3, $4)
     ORDER BY created_at DESC, id DESC LIMIT $5"
));

const OUTGOING_UNTIL: Sql = sql("SELECT id FROM message
     WHERE chat_id = $1 AND session_id = $2 AND direction = 'out' AND (created_at, id) <= ($3, $4)
     ORDER BY created_at DESC, id DESC LIMIT $5");

super::statement::statements! {
   FIND_BY_CHANNEL_ID, ADVANCE, ADVANCE_IN_SESSION, HISTORY, PLACE, OUTGOING_SINCE, OUTGOING_UNTIL; INSERT
}

super::accessor::has!(HasMessages::messages -> MessageRepository);

#[async_trait]
impl MessageRepository for SqlTx {
    async fn find_by_channel_ids(
        &mut self,
        keys: &[String],
    ) -> Result<Vec<(String, MessageId)>, StorageError> {
        let rows = self.conn.fetch_all::<(String, MessageId)>(FIND_BY_CHANNEL_ID, (Json(keys),)).await?;
        let mut found = Vec::with_capacity(rows.len());
        for (key, row) in rows {
            // The key of the request, where it differs from the key that could be stored.
            let asked = keys.iter().filter(|asked| asked.contains('\0') && text(asked) == key);
            found.extend(asked.map(|asked| (asked.clone(), row.clone())));
            found.push((key, row));
        }
        Ok(found)
    }

    async fn insert_many(&mut self, messages: &[Message]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, messages).await.map(drop)
    }

    async fn apply_statuses(&mut self, writes: &[StatusWrite]) -> Result<(), StorageError> {
        use MessageStatus::{Delivered, Failed, Played, Read, Sent};
        for status in [Sent, Delivered, Read, Played, Failed] {
            let (mut ids, mut last, mut said) = (Vec::new(), None, Vec::new());
            for StatusWrite { id, at, session, .. } in writes.iter().filter(|write| write.status == status) {
                match session {
                    Some(session) => said.push((id.as_str(), session.as_str(), at.as_millis())),
                    None => {
                        ids.push(id.as_str());
                        last = last.max(Some(at.as_millis()));
                    }
                }
            }
            let from: Vec<&str> = status.predecessors().iter().map(|before| before.name()).collect();
            if let Some(last) = last {
                self.conn.execute(ADVANCE, (status.name(), last, Json(&ids), Json(&from))).await?;
            }
            if !said.is_empty() {
                self.conn.execute(ADVANCE_IN_SESSION, (status.name(), Json(&said), Json(&from))).await?;
            }
        }
        Ok(())
    }

    async fn history(&mut self, query: &HistoryQuery<'_>) -> Result<Page<Message>, StorageError> {
        let limit = i64::from(query.limit);
        let (at, before) = match &query.before {
            Some((at, before)) => (at.as_millis(), before.as_str()),
            None => (i64::MAX, ""),
        };
        let binds = (query.chat_id, at, before, limit + 1);
        let mut items = self.conn.fetch_all::<Message>(HISTORY, binds).await?;
        let more = items.len() > query.limit as usize;
        items.truncate(query.limit as usize);
        let next = items.last().filter(|_| more).map(|last| (last.created_at, last.id.clone()));
        Ok(Page { items, next })
    }

    async fn outgoing_since(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        after: Option<&MessageId>,
        limit: u32,
    ) -> Result<Vec<Message>, StorageError> {
        let place = match after {
            Some(after) => {
                self.conn.fetch_optional::<(i64, String)>(PLACE, (after.as_str(), session.as_str())).await?
            }
            None => None,
        };
        let (at, after) = place.unwrap_or((i64::MIN, String::new()));
        self.outgoing_behind(session, chat, (at, &after), limit).await
    }

    async fn answers_to(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        message: &MessageId,
        limit: u32,
    ) -> Result<Option<Vec<Message>>, StorageError> {
        let place =
            self.conn.fetch_optional::<(i64, String)>(PLACE, (message.as_str(), session.as_str())).await?;
        match place {
            // Answers have the time of their message; ids of two processes say nothing about who was first.
            Some((at, _)) => self.outgoing_behind(session, chat, (at, ""), limit).await.map(Some),
            None => Ok(None),
        }
    }

    async fn outgoing_until(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        last: &MessageId,
        limit: u32,
    ) -> Result<Vec<MessageId>, StorageError> {
        let place =
            self.conn.fetch_optional::<(i64, String)>(PLACE, (last.as_str(), session.as_str())).await?;
        let Some((at, last)) = place else {
            return Ok(Vec::new());
        };
        self.conn.fetch_column(OUTGOING_UNTIL, (chat, session, at, &last, i64::from(limit))).await
    }
}

impl SqlTx {
    /// The `limit` newest outgoing messages of a session behind a place in its chat, oldest first.
    async fn outgoing_behind(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        (at, after): (i64, &str),
        limit: u32,
    ) -> Result<Vec<Message>, StorageError> {
        let binds = (chat, session, at, after, i64::from(limit));
        let mut messages = self.conn.fetch_all::<Message>(OUTGOING_SINCE, binds).await?;
        messages.reverse();
        Ok(messages)
    }
}
