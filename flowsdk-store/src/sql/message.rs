//! Messages.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::message::{
    HasMessages, HistoryQuery, Message, MessageRepository, MessageStatus, NewMessage, Page, ParkedStatus,
    Sender, SenderKind, StatusError, StatusReached, StatusWrite,
};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::bind::Binder;
use super::executor::text;
use super::record::{Part, Record as _, placeholders, record};
use super::row::{Cells, Row};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    Message in "message" {
        id, chat_id, session_id, direction, kind, content: json, sender as Option<Sender>, status,
        channel_message_id, provider_id, error as Option<StatusError>, created_at, status_updated_at, seq
    }
}

record! {
    ParkedStatus in "parked_status" { provider_id, status, at, error as Option<StatusError>, phone_number_id, parked_at }
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

impl Part for Option<StatusError> {
    const COLUMNS: &'static str = "error_code, error_title";
    const COUNT: usize = 2;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        let code: Option<i64> = cells.of(table, "error_code")?;
        let title = cells.of(table, "error_title")?;
        Ok(code.map(|code| StatusError { code, title }))
    }

    fn bind(&self, to: &mut Binder<'_>) {
        let error = self.as_ref();
        to.bind(error.map(|error| error.code)).bind(error.and_then(|error| error.title.as_deref()));
    }
}

impl Row for StatusReached {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        let (id, chat_id, seq) = (cells.next()?, cells.next()?, cells.next()?);
        let (session_id, status, at) = (cells.next()?, cells.next()?, cells.next()?);
        Ok(Self { id, chat_id, seq, session_id, status, at, error: Part::read(cells, "message")? })
    }
}

/// On SQLite a message names the one before it in its chat, and a trigger notes it as the chat's newest.
static INSERT: RowsSql = RowsSql::insert::<Message>("").or_one_by_one(concat!(
    "INSERT OR FAIL INTO message (",
    Message::COLUMNS,
    ", previous) VALUES (",
    placeholders(1, Message::COUNT),
    ", (SELECT last_message FROM chat WHERE id = $2))"
));

/// The last number of each of these chats. On Postgres the largest is one step from the end of the index.
pub(super) const LAST: Sql = sql_per(
    "SELECT id, last_seq FROM chat WHERE id IN (SELECT value FROM json_each($1))",
    "SELECT id, (SELECT COALESCE(MAX(seq), 0) FROM message WHERE chat_id = chat.id) FROM chat
     WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text($1)))",
);

/// The index of the numbers of a chat, on Postgres.
const NUMBERS: &str = "message_in_chat";

const FIND_BY_CHANNEL_ID: Sql =
    sql_list!("SELECT channel_message_id, id FROM message WHERE channel_message_id ", "$1", "");

pub(super) const FIND_BY_PROVIDER_ID: Sql =
    sql_list!("SELECT provider_id, id, session_id FROM message WHERE provider_id ", "$1", "");

const SESSIONS_OF: Sql = sql_list!("SELECT id, session_id FROM message WHERE id ", "$1", "");

const SENT_BY_PEOPLE: Sql = sql_list!(
    "SELECT id, session_id, status FROM message WHERE sender_kind = 'human' AND session_id IS NOT NULL AND status IS NOT NULL
     AND id ",
    "$1",
    ""
);

/// `$1` lists `[id, provider id]`.
const NOTE_PROVIDER_ID: Sql = sql_per(
    "UPDATE message SET provider_id = told.value ->> 1 FROM json_each($1) AS told
     WHERE message.id = told.value ->> 0 AND provider_id IS NULL",
    "UPDATE message SET provider_id = told.value ->> 1 FROM jsonb_array_elements($1) AS told (value)
     WHERE message.id = told.value ->> 0 AND provider_id IS NULL",
);

static PARK: RowsSql =
    RowsSql::insert::<ParkedStatus>(" ON CONFLICT (provider_id, phone_number_id, status) DO NOTHING");

/// `$1` lists `[provider id, number]`.
const TAKE_PARKED: Sql = sql_per(
    concat!(
        "DELETE FROM parked_status WHERE (provider_id, phone_number_id) IN (
            SELECT told.value ->> 0, told.value ->> 1 FROM json_each($1) AS told
            UNION ALL SELECT told.value ->> 0, '' FROM json_each($1) AS told)
         RETURNING ",
        ParkedStatus::COLUMNS
    ),
    concat!(
        "DELETE FROM parked_status WHERE (provider_id, phone_number_id) IN (
            SELECT told.value ->> 0, told.value ->> 1 FROM jsonb_array_elements($1) AS told (value)
            UNION ALL SELECT told.value ->> 0, '' FROM jsonb_array_elements($1) AS told (value))
         RETURNING ",
        ParkedStatus::COLUMNS
    ),
);

const DROP_PARKED: Sql = sql("DELETE FROM parked_status WHERE parked_at < $1");

/// The columns of a [`StatusReached`].
const REACHED: &str =
    " RETURNING id, chat_id, seq, session_id, status, status_updated_at, error_code, error_title";

/// `$3` lists the ids, `$4` the statuses from which `$1` may come.
pub(super) const ADVANCE: Sql = sql_per(
    concat!(
        "UPDATE message SET status = $1, status_updated_at = $2
     WHERE id IN (SELECT value FROM json_each($3)) AND status IN (SELECT value FROM json_each($4))",
        REACHED
    ),
    concat!(
        "UPDATE message SET status = $1, status_updated_at = $2
     WHERE id = ANY(ARRAY(SELECT jsonb_array_elements_text($3)))
        AND status = ANY(ARRAY(SELECT jsonb_array_elements_text($4)))",
        REACHED
    ),
);

/// The same for messages of sessions: `$2` lists them as `[id, session, at]`, `$3` the statuses.
const ADVANCE_IN_SESSION: Sql = sql_per(
    concat!(
        "UPDATE message SET status = $1, status_updated_at = said.value ->> 2 FROM json_each($2) AS said
     WHERE message.id = said.value ->> 0 AND session_id = said.value ->> 1
        AND status IN (SELECT value FROM json_each($3))",
        REACHED
    ),
    concat!(
        "UPDATE message SET status = $1, status_updated_at = CAST(said.value ->> 2 AS bigint)
     FROM jsonb_array_elements($2) AS said (value)
     WHERE message.id = said.value ->> 0 AND session_id = said.value ->> 1
        AND status = ANY(ARRAY(SELECT jsonb_array_elements_text($3)))",
        REACHED
    ),
);

/// Failures with their reason: `$1` lists them as `[id, at, code, title]`, `$2` the statuses.
const FAIL: Sql = sql_per(
    concat!("UPDATE message SET status = 'failed', status_updated_at = failed.value ->> 1, error_code = failed.value ->> 2,
        error_title = failed.value ->> 3
     FROM json_each($1) AS failed
     WHERE message.id = failed.value ->> 0 AND status IN (SELECT value FROM json_each($2))", REACHED),
    concat!("UPDATE message SET status = 'failed', status_updated_at = CAST(failed.value ->> 1 AS bigint),
        error_code = CAST(failed.value ->> 2 AS bigint), error_title = failed.value ->> 3
     FROM jsonb_array_elements($1) AS failed (value)
     WHERE message.id = failed.value ->> 0 AND status = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))", REACHED),
);

/// On SQLite, a walk through chat `$1` from number `$2` down to `$3`, without both: every 32nd message is in an index, and
/// each names the one before it. A statement with a limit walks no further than it needs. Rows come in the order of the
/// walk, since a `CROSS JOIN` reads its left side first.
const BACK: &str = "WITH RECURSIVE back (at, number, previous) AS (
        SELECT id, seq, previous FROM message WHERE id = COALESCE(
            (SELECT id FROM message WHERE chat_id = $1 AND seq >= $2 AND seq % 32 = 0 ORDER BY seq LIMIT 1),
            (SELECT last_message FROM chat WHERE id = $1))
        UNION ALL SELECT message.id, message.seq, message.previous
        FROM back CROSS JOIN message ON message.id = back.previous WHERE message.seq > $3
        ORDER BY 2 DESC)";
const WALKED: &str =
    " FROM back CROSS JOIN message ON message.id = back.at WHERE number < $2 AND number > $3";
const NUMBERED: &str = " FROM message WHERE chat_id = $1 AND seq < $2 AND seq > $3";

/// `$4` is the limit.
const HISTORY: Sql = sql_per(
    concat!(BACK, " SELECT ", Message::COLUMNS, WALKED, " LIMIT $4"),
    concat!("SELECT ", Message::COLUMNS, NUMBERED, " ORDER BY seq DESC LIMIT $4"),
);

/// Of session `$4`, at most `$5`. Sessions of one chat are few.
const OUTGOING: Sql = sql_per(
    concat!(
        BACK,
        " SELECT ",
        Message::COLUMNS,
        WALKED,
        " AND session_id = $4 AND direction = 'out' LIMIT $5"
    ),
    concat!(
        "SELECT ",
        Message::COLUMNS,
        NUMBERED,
        " AND session_id = $4 AND direction = 'out' ORDER BY seq DESC LIMIT $5"
    ),
);

/// The same, ids alone.
const OUTGOING_IDS: Sql = sql_per(
    concat!(BACK, " SELECT id", WALKED, " AND session_id = $4 AND direction = 'out' LIMIT $5"),
    concat!("SELECT id", NUMBERED, " AND session_id = $4 AND direction = 'out' ORDER BY seq DESC LIMIT $5"),
);

/// The newest of the contact.
const HEARD: Sql = sql_per(
    concat!(BACK, " SELECT id", WALKED, " AND direction = 'in' LIMIT 1"),
    concat!("SELECT id", NUMBERED, " AND direction = 'in' ORDER BY seq DESC LIMIT 1"),
);

const NUMBER: Sql = sql("SELECT seq FROM message WHERE id = $1 AND chat_id = $2");

const PLACE: Sql = sql("SELECT chat_id, seq FROM message WHERE id = $1 AND session_id = $2");

super::statement::statements! {
   LAST, FIND_BY_CHANNEL_ID, FIND_BY_PROVIDER_ID, SESSIONS_OF, SENT_BY_PEOPLE, NOTE_PROVIDER_ID, TAKE_PARKED, DROP_PARKED, ADVANCE,
   ADVANCE_IN_SESSION, FAIL, HISTORY, NUMBER, PLACE, HEARD, OUTGOING, OUTGOING_IDS; INSERT, PARK
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

    async fn last_numbers(&mut self, chats: &[ChatId]) -> Result<Vec<(ChatId, i64)>, StorageError> {
        self.conn.fetch_all(LAST, (Json(chats),)).await
    }

    async fn insert_many(&mut self, messages: &[NewMessage]) -> Result<Vec<i64>, StorageError> {
        let chats: BTreeSet<&ChatId> = messages.iter().map(|message| &message.chat_id).collect();
        let chats: Vec<ChatId> = chats.into_iter().cloned().collect();
        let mut last: HashMap<ChatId, i64> = self.last_numbers(&chats).await?.into_iter().collect();
        let mut numbered: Vec<(i64, &NewMessage)> = Vec::with_capacity(messages.len());
        for message in messages {
            let last = last.get_mut(&message.chat_id).ok_or_else(|| no_chat(&message.chat_id))?;
            *last += 1;
            numbered.push((*last, message));
        }
        let bind = |to: &mut Binder<'_>, (seq, message): &(i64, &NewMessage)| {
            bind_written(to, message);
            to.bind(*seq);
        };
        let stored = self.conn.execute_rows(&INSERT, &numbered, bind).await;
        stored.map_err(|error| match error {
            // Another process has written to the chat meanwhile.
            StorageError::Unique { constraint } if constraint == NUMBERS => {
                StorageError::Stale { entity: "message" }
            }
            other => other,
        })?;
        Ok(numbered.into_iter().map(|(seq, _)| seq).collect())
    }

    async fn note_provider_ids(&mut self, ids: &[(MessageId, String)]) -> Result<(), StorageError> {
        self.conn.execute(NOTE_PROVIDER_ID, (Json(ids),)).await.map(drop)
    }

    async fn find_by_provider_ids(
        &mut self,
        ids: &[String],
    ) -> Result<Vec<(String, MessageId, SessionId)>, StorageError> {
        self.conn.fetch_all(FIND_BY_PROVIDER_ID, (Json(ids),)).await
    }

    async fn sessions_of(&mut self, ids: &[MessageId]) -> Result<Vec<(MessageId, SessionId)>, StorageError> {
        self.conn.fetch_all(SESSIONS_OF, (Json(ids),)).await
    }

    async fn sent_by_people(
        &mut self,
        ids: &[MessageId],
    ) -> Result<Vec<(MessageId, SessionId, MessageStatus)>, StorageError> {
        self.conn.fetch_all(SENT_BY_PEOPLE, (Json(ids),)).await
    }

    async fn park(&mut self, statuses: &[ParkedStatus]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, status: &ParkedStatus| status.bind(to);
        self.conn.execute_rows(&PARK, statuses, bind).await.map(drop)
    }

    async fn take_parked(&mut self, ids: &[(String, String)]) -> Result<Vec<ParkedStatus>, StorageError> {
        self.conn.fetch_all(TAKE_PARKED, (Json(ids),)).await
    }

    async fn drop_parked(&mut self, before: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(DROP_PARKED, (before,)).await
    }

    async fn apply_statuses(&mut self, writes: &[StatusWrite]) -> Result<Vec<StatusReached>, StorageError> {
        use MessageStatus::{Delivered, Failed, Played, Read, Sent};
        let mut reached = Vec::new();
        for status in [Sent, Delivered, Read, Played, Failed] {
            let (mut ids, mut last, mut said, mut failed) = (Vec::new(), None, Vec::new(), Vec::new());
            let of_status = writes.iter().filter(|write| write.status == status);
            for StatusWrite { id, at, session, error, .. } in of_status {
                match (session, error) {
                    (Some(session), _) => said.push((id.as_str(), session.as_str(), at.as_millis())),
                    (None, Some(StatusError { code, title })) => {
                        failed.push((id.as_str(), at.as_millis(), code, title.as_deref()));
                    }
                    (None, None) => {
                        ids.push(id.as_str());
                        last = last.max(Some(at.as_millis()));
                    }
                }
            }
            let from: Vec<&str> = status.predecessors().iter().map(|before| before.name()).collect();
            if let Some(last) = last {
                let binds = (status.name(), last, Json(&ids), Json(&from));
                reached.extend(self.conn.fetch_all::<StatusReached>(ADVANCE, binds).await?);
            }
            if !failed.is_empty() {
                let binds = (Json(&failed), Json(&from));
                reached.extend(self.conn.fetch_all::<StatusReached>(FAIL, binds).await?);
            }
            if !said.is_empty() {
                let binds = (status.name(), Json(&said), Json(&from));
                reached.extend(self.conn.fetch_all::<StatusReached>(ADVANCE_IN_SESSION, binds).await?);
            }
        }
        Ok(reached)
    }

    async fn history(&mut self, query: &HistoryQuery<'_>) -> Result<Page<Message>, StorageError> {
        let limit = i64::from(query.limit);
        let binds = (query.chat_id, query.before.unwrap_or(i64::MAX), 0_i64, limit + 1);
        let mut items = self.conn.fetch_all::<Message>(HISTORY, binds).await?;
        let more = items.len() > query.limit as usize;
        items.truncate(query.limit as usize);
        let next = items.last().filter(|_| more).map(|last| last.seq);
        Ok(Page { items, next })
    }

    async fn outgoing_since(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        after: Option<&MessageId>,
        limit: u32,
    ) -> Result<Vec<Message>, StorageError> {
        let after = match after {
            Some(after) => self.seq_of(session, chat, after).await?,
            None => None,
        };
        self.outgoing_behind(session, chat, after.unwrap_or(0), limit).await
    }

    async fn answers_to(
        &mut self,
        session: &SessionId,
        message: &MessageId,
        limit: u32,
    ) -> Result<Option<Vec<Message>>, StorageError> {
        match self.conn.fetch_optional::<(ChatId, i64)>(PLACE, (message, session)).await? {
            Some((chat, seq)) => self.outgoing_behind(session, &chat, seq, limit).await.map(Some),
            None => Ok(None),
        }
    }

    async fn is_heard_after(
        &mut self,
        chat: &ChatId,
        last: &MessageId,
    ) -> Result<Option<bool>, StorageError> {
        let Some(seq) = self.conn.fetch_optional::<(i64,)>(NUMBER, (last, chat)).await? else {
            return Ok(None);
        };
        let newest = self.conn.fetch_optional::<(MessageId,)>(HEARD, (chat, i64::MAX, seq.0)).await?;
        Ok(Some(newest.is_some()))
    }

    async fn outgoing_until(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        last: &MessageId,
        limit: u32,
    ) -> Result<Vec<MessageId>, StorageError> {
        let Some(last) = self.seq_of(session, chat, last).await? else {
            return Ok(Vec::new());
        };
        let binds = (chat, last.saturating_add(1), 0_i64, session, i64::from(limit));
        self.conn.fetch_column(OUTGOING_IDS, binds).await
    }
}

/// On SQLite no key of the table refuses a message whose chat is gone.
fn no_chat(chat: &ChatId) -> StorageError {
    StorageError::Orphan { constraint: format!("the chat of a message: {chat}") }
}

fn bind_written(to: &mut Binder<'_>, message: &NewMessage) {
    to.bind(&message.id)
        .bind(&message.chat_id)
        .bind(&message.session_id)
        .bind(&message.direction)
        .bind(&message.kind)
        .bind(Json(&message.content));
    Part::bind(&message.sender, to);
    to.bind(&message.status).bind(&message.channel_message_id).bind(&message.provider_id);
    Part::bind(&message.error, to);
    to.bind(message.created_at).bind(message.status_updated_at);
}

impl SqlTx {
    /// Returns the number of a message in `chat`; `None`, if it is none of the session there.
    async fn seq_of(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        message: &MessageId,
    ) -> Result<Option<i64>, StorageError> {
        let place = self.conn.fetch_optional::<(ChatId, i64)>(PLACE, (message, session)).await?;
        Ok(place.filter(|(of, _)| of == chat).map(|(_, seq)| seq))
    }

    /// The `limit` newest outgoing messages of a session behind a place in its chat, oldest first.
    async fn outgoing_behind(
        &mut self,
        session: &SessionId,
        chat: &ChatId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Message>, StorageError> {
        let binds = (chat, i64::MAX, after, session, i64::from(limit));
        let mut messages = self.conn.fetch_all::<Message>(OUTGOING, binds).await?;
        messages.reverse();
        Ok(messages)
    }
}
