//! Messages.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::message::{
    Direction, HistoryQuery, Message, MessageRepository, MessageStatus, Page, Sender, SenderKind, StatusWrite,
};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{corrupt, execute, execute_rows, fetch_all, fetch_optional, id, json, text};
use super::statement::{RowsSql, Sql, sql, sql_list};

pub(super) type MessageRow = (
    String,
    String,
    String,
    String,
    String,
    Json<Value>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    i64,
    i64,
);

fn sender_name(kind: SenderKind) -> &'static str {
    match kind {
        SenderKind::Flow => "flow",
        SenderKind::Ai => "ai",
        SenderKind::Human => "human",
    }
}

fn sender(kind: Option<String>, name: Option<String>) -> Option<Sender> {
    let kind = match kind?.as_str() {
        "ai" => SenderKind::Ai,
        "human" => SenderKind::Human,
        _ => SenderKind::Flow,
    };
    Some(Sender { kind, name })
}

pub(super) fn message(row: MessageRow) -> Result<Message, StorageError> {
    let (
        message_id,
        chat_id,
        session_id,
        direction,
        kind,
        Json(content),
        sender_kind,
        sender_name,
        status,
        channel_message_id,
        created_at,
        status_updated_at,
    ) = row;
    Ok(Message {
        id: id("message", message_id)?,
        chat_id: id("message", chat_id)?,
        session_id: id("message", session_id)?,
        direction: if direction == "in" { Direction::In } else { Direction::Out },
        kind,
        content,
        sender: sender(sender_kind, sender_name),
        status: status
            .map(|name| MessageStatus::from_name(&name).ok_or_else(|| corrupt("message")(&name)))
            .transpose()?,
        channel_message_id,
        created_at: Timestamp::from_millis(created_at),
        status_updated_at: Timestamp::from_millis(status_updated_at),
    })
}

static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO message (id, chat_id, session_id, direction, kind, content, sender_kind, sender_name, status,
                          channel_message_id, created_at, status_updated_at) VALUES ",
    12,
    "",
);

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

const HISTORY: Sql =
    sql("SELECT id, chat_id, session_id, direction, kind, content, sender_kind, sender_name, status,
            channel_message_id, created_at, status_updated_at
     FROM message WHERE chat_id = $1 AND (created_at, id) < ($2, $3)
     ORDER BY created_at DESC, id DESC LIMIT $4");

const PLACE: Sql = sql("SELECT created_at, id FROM message WHERE id = $1 AND session_id = $2");

/// By chat, because that is what is indexed; sessions of one chat are few.
const OUTGOING_SINCE: Sql =
    sql("SELECT id, chat_id, session_id, direction, kind, content, sender_kind, sender_name, status,
            channel_message_id, created_at, status_updated_at
     FROM message
     WHERE chat_id = $1 AND session_id = $2 AND direction = 'out' AND (created_at, id) > ($3, $4)
     ORDER BY created_at DESC, id DESC LIMIT $5");

const OUTGOING_UNTIL: Sql = sql("SELECT id FROM message
     WHERE chat_id = $1 AND session_id = $2 AND direction = 'out' AND (created_at, id) <= ($3, $4)
     ORDER BY created_at DESC, id DESC LIMIT $5");

super::statement::statements! { FIND_BY_CHANNEL_ID, ADVANCE, ADVANCE_IN_SESSION, HISTORY, PLACE, OUTGOING_SINCE, OUTGOING_UNTIL; INSERT }

#[async_trait]
impl MessageRepository for SqlTx {
    async fn find_by_channel_ids(
        &mut self,
        keys: &[String],
    ) -> Result<Vec<(String, MessageId)>, StorageError> {
        let rows = fetch_all!(self.conn, (String, String), FIND_BY_CHANNEL_ID, json(keys)?)?;
        let mut found = Vec::with_capacity(rows.len());
        for (key, row) in rows {
            let row: MessageId = id("message", row)?;
            // What was asked for, where that is not what could be stored.
            let asked = keys.iter().filter(|asked| asked.contains('\0') && text(asked) == key);
            found.extend(asked.map(|asked| (asked.clone(), row.clone())));
            found.push((key, row));
        }
        Ok(found)
    }

    async fn insert_many(&mut self, messages: &[Message]) -> Result<(), StorageError> {
        execute_rows!(self.conn, INSERT, messages, |query, message| query
            .bind(message.id.as_str())
            .bind(message.chat_id.as_str())
            .bind(message.session_id.as_str())
            .bind(message.direction.name())
            .bind(text(&message.kind))
            .bind(json(&message.content)?)
            .bind(message.sender.as_ref().map(|sender| sender_name(sender.kind)))
            .bind(message.sender.as_ref().and_then(|sender| sender.name.as_deref()).map(text))
            .bind(message.status.map(MessageStatus::name))
            .bind(message.channel_message_id.as_deref().map(text))
            .bind(message.created_at.as_millis())
            .bind(message.status_updated_at.as_millis()))
        .await
        .map(drop)
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
                execute!(self.conn, ADVANCE, status.name(), last, Json(&ids), Json(&from))?;
            }
            if !said.is_empty() {
                execute!(self.conn, ADVANCE_IN_SESSION, status.name(), Json(&said), Json(&from))?;
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
        let rows = fetch_all!(self.conn, MessageRow, HISTORY, query.chat_id.as_str(), at, before, limit + 1)?;
        let mut items = rows.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
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
                fetch_optional!(self.conn, (i64, String), PLACE, after.as_str(), session.as_str())?
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
        let place = fetch_optional!(self.conn, (i64, String), PLACE, message.as_str(), session.as_str())?;
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
        let place = fetch_optional!(self.conn, (i64, String), PLACE, last.as_str(), session.as_str())?;
        let Some((at, last)) = place else {
            return Ok(Vec::new());
        };
        let rows = fetch_all!(
            self.conn,
            (String,),
            OUTGOING_UNTIL,
            chat.as_str(),
            session.as_str(),
            at,
            last,
            i64::from(limit)
        )?;
        rows.into_iter().map(|(row,)| id("message", row)).collect()
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
        let (chat, session, limit) = (chat.as_str(), session.as_str(), i64::from(limit));
        let rows = fetch_all!(self.conn, MessageRow, OUTGOING_SINCE, chat, session, at, after, limit)?;
        let mut messages = rows.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
        messages.reverse();
        Ok(messages)
    }
}
