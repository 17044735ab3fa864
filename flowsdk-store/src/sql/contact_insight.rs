//! Doings of contacts.

use std::collections::BTreeMap;

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::contact::{ContactInsightRepository, ContactInsights, DayOfMessages, HasContactInsights};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::message::Direction;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::statement::{Sql, sql_per};

/// A statement with a condition on a router id: one of those in `$2`, or any where that is null.
macro_rules! within {
    ($head:literal, $column:literal, $tail:literal) => {
        within!($head | $head, $column, $tail)
    };
    ($sqlite:literal | $postgres:literal, $column:literal, $tail:literal) => {
        sql_per(
            concat!(
                $sqlite,
                " (CAST($2 AS TEXT) IS NULL OR ",
                $column,
                " IN (SELECT value FROM json_each($2)))",
                $tail
            ),
            concat!(
                $postgres,
                " (CAST($2::jsonb AS TEXT) IS NULL OR ",
                $column,
                " = ANY(ARRAY(SELECT jsonb_array_elements_text($2::jsonb))))",
                $tail
            ),
        )
    };
}

const SESSIONS: Sql =
    within!("SELECT COUNT(*) FROM session WHERE contact_id = $1 AND", "session.router_id", "");

const CHATS: Sql = within!(
    "SELECT COUNT(*), COUNT(CASE WHEN status = 'open' THEN 1 END) FROM chat WHERE contact_id = $1 AND",
    "chat.router_id",
    ""
);

/// On SQLite by the chain of each chat.
const DAYS: Sql = within!(
    "WITH RECURSIVE back (chat_id, created_at, direction, previous) AS (
        SELECT chat.id, message.created_at, message.direction, message.previous
        FROM chat CROSS JOIN message ON message.id = chat.last_message WHERE chat.contact_id = $1
        UNION ALL SELECT message.chat_id, message.created_at, message.direction, message.previous
        FROM back CROSS JOIN message ON message.id = back.previous)
     SELECT back.created_at / 86400000, back.direction, COUNT(*) FROM back JOIN chat ON chat.id = back.chat_id
     WHERE back.created_at >= $3 AND"
        | "SELECT message.created_at / 86400000, direction, COUNT(*) FROM chat
     JOIN message ON message.chat_id = chat.id AND message.created_at >= $3 WHERE chat.contact_id = $1 AND",
    "chat.router_id",
    " GROUP BY 1, 2"
);

/// The newest of each chat, so that not every message is looked at.
const LAST_SEEN: Sql = within!(
    "SELECT MAX((WITH RECURSIVE back (created_at, direction, previous) AS (
            SELECT created_at, direction, previous FROM message WHERE id = chat.last_message
            UNION ALL SELECT message.created_at, message.direction, message.previous
            FROM back CROSS JOIN message ON message.id = back.previous WHERE back.direction <> 'in')
        SELECT created_at FROM back WHERE direction = 'in' LIMIT 1))
     FROM chat WHERE chat.contact_id = $1 AND" |
    "SELECT MAX((SELECT message.created_at FROM message WHERE message.chat_id = chat.id AND direction = 'in'
                 ORDER BY message.seq DESC LIMIT 1))
     FROM chat WHERE chat.contact_id = $1 AND",
    "chat.router_id",
    ""
);

/// The newest record of each router.
const OPT_INS: Sql = within!(
    "SELECT id, contact_id, router_id, status, chat_id, source, recorded_at FROM contact_opt_in AS this
     WHERE contact_id = $1 AND NOT EXISTS (SELECT 1 FROM contact_opt_in AS later
        WHERE later.contact_id = this.contact_id AND later.router_id = this.router_id
          AND (later.recorded_at, later.id) > (this.recorded_at, this.id)) AND",
    "this.router_id",
    " ORDER BY recorded_at DESC, id DESC"
);

super::statement::statements! { SESSIONS, CHATS, DAYS, LAST_SEEN, OPT_INS }

const DAY: i64 = 24 * 60 * 60 * 1_000;

super::accessor::has!(HasContactInsights::contact_insights -> ContactInsightRepository);

#[async_trait]
impl ContactInsightRepository for SqlTx {
    async fn insights(
        &mut self,
        contact: &ContactId,
        only: Option<&[RouterId]>,
        since: Timestamp,
    ) -> Result<ContactInsights, StorageError> {
        let only = only.map(Json);
        let sessions = self.conn.fetch_all::<(i64,)>(SESSIONS, (contact, only)).await?;
        let chats = self.conn.fetch_all::<(i64, i64)>(CHATS, (contact, only)).await?;
        let seen = self.conn.fetch_all::<(Option<Timestamp>,)>(LAST_SEEN, (contact, only)).await?;
        let opt_ins = self.conn.fetch_all(OPT_INS, (contact, only)).await?;
        type Row = (i64, Direction, i64);
        let mut days: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for (day, direction, count) in self.conn.fetch_all::<Row>(DAYS, (contact, only, since)).await? {
            let (incoming, outgoing) = days.entry(day).or_default();
            *(if direction == Direction::In { incoming } else { outgoing }) += count;
        }
        let (chats, open_chats) = chats.first().copied().unwrap_or_default();
        Ok(ContactInsights {
            live_sessions: sessions.first().map_or(0, |(count,)| *count),
            chats,
            open_chats,
            last_seen_at: seen.first().and_then(|(at,)| *at),
            messages_by_day: days
                .into_iter()
                .rev()
                .map(|(day, (incoming, outgoing))| DayOfMessages {
                    day: Timestamp::from_millis(day * DAY),
                    incoming,
                    outgoing,
                })
                .collect(),
            opt_ins,
        })
    }
}
