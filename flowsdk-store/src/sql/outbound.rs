//! The queue of messages that are to be sent by phone.

use std::collections::BTreeMap;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_channels::phone::sending::{
    Attempt, HasOutbound, NumberState, Outbound, OutboundRepository, Owners, Pause, Priority, Settlement,
    SettlementOutcome,
};
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, MessageId, RouterId};
use flowsdk_core::message::{MessageStatus, StatusError};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::row::{With, corrupt};
use super::statement::{Sql, sql, sql_list, sql_per};

/// `$1` lists `[message, session, number, event, priority]`, in order. All are due: the clock of the sender is another one.
const ENQUEUE: Sql = sql_per(
    "INSERT INTO outbound (message_id, session_id, phone_number_id, contact_id, event, priority, due_at, queued_at)
     SELECT message.id, new.value ->> 1, new.value ->> 2, chat.contact_id, new.value ->> 3, new.value ->> 4, 0, $2
     FROM json_each($1) AS new CROSS JOIN message CROSS JOIN chat
     WHERE message.id = new.value ->> 0 AND message.status = 'pending' AND chat.id = message.chat_id
        AND NOT EXISTS (SELECT 1 FROM send_attempt WHERE send_attempt.message_id = message.id)
     ORDER BY new.key ON CONFLICT (message_id) DO NOTHING",
    "INSERT INTO outbound (message_id, session_id, phone_number_id, contact_id, event, priority, due_at, queued_at)
     SELECT message.id, new.value ->> 1, new.value ->> 2, chat.contact_id, new.value ->> 3,
        CAST(new.value ->> 4 AS bigint), 0, $2
     FROM jsonb_array_elements($1) WITH ORDINALITY AS new (value, place)
     JOIN message ON message.id = new.value ->> 0 AND message.status = 'pending'
     JOIN chat ON chat.id = message.chat_id
     WHERE NOT EXISTS (SELECT 1 FROM send_attempt WHERE send_attempt.message_id = message.id)
     ORDER BY new.place ON CONFLICT (message_id) DO NOTHING",
);

/// The columns of a message in the queue, of `outbound` with its session.
const COLUMNS: &str =
    "outbound.event, outbound.contact_id, outbound.attempts, outbound.refusals, outbound.queued_at,
    outbound.began_at, session.epoch, session.started_at";

/// The numbers with messages, one by one.
const WALK: &str = "WITH RECURSIVE number (id) AS (
        SELECT MIN(phone_number_id) FROM outbound
        UNION ALL SELECT (
            SELECT MIN(phone_number_id) FROM outbound WHERE outbound.phone_number_id > number.id)
        FROM number WHERE number.id IS NOT NULL)
     SELECT ";

/// The first messages of a number that may go.
const FIRST: &str = "FROM outbound AS first
        WHERE first.phone_number_id = number.id AND first.due_at <= $1 AND first.began_at IS NULL
            AND NOT EXISTS (
                SELECT 1 FROM outbound AS before
                WHERE before.phone_number_id = first.phone_number_id AND before.contact_id = first.contact_id
                    AND before.seq < first.seq)
        ORDER BY first.priority, first.seq LIMIT $2)";

const MAY_SEND: &str = " LEFT JOIN session ON session.id = outbound.session_id
     WHERE NOT EXISTS (SELECT 1 FROM number_pause WHERE number_pause.phone_number_id = number.id)
        AND NOT EXISTS (
            SELECT 1 FROM channel_number WHERE channel_number.phone_number_id = number.id
                AND (channel_number.active = 0 OR channel_number.access_token_encrypted IS NULL))
     ORDER BY outbound.priority, outbound.seq LIMIT $3";

pub(super) const DUE: Sql = sql_per(
    concat!(
        WALK,
        COLUMNS,
        " FROM number JOIN outbound ON outbound.seq IN (SELECT first.seq ",
        FIRST,
        MAY_SEND
    ),
    concat!(
        WALK,
        COLUMNS,
        " FROM number CROSS JOIN LATERAL (SELECT first.* ",
        FIRST,
        " AS outbound",
        MAY_SEND
    ),
);

const BEGIN: Sql = sql_list!(
    "UPDATE outbound SET attempts = attempts + 1, began_at = $2 WHERE message_id ",
    "$1",
    " AND began_at IS NULL RETURNING message_id, attempts"
);

/// `$1` lists `[message, number]`.
const NOTE_ATTEMPTS: Sql = sql_per(
    "INSERT INTO send_attempt (message_id, number, began_at)
     SELECT begun.value ->> 0, begun.value ->> 1, $2 FROM json_each($1) AS begun WHERE TRUE",
    "INSERT INTO send_attempt (message_id, number, began_at)
     SELECT begun.value ->> 0, CAST(begun.value ->> 1 AS bigint), $2 FROM jsonb_array_elements($1) AS begun (value)",
);

/// `$1` lists `[message, number, outcome, code, title]`.
const END: Sql = sql_per(
    "UPDATE send_attempt SET ended_at = $2, outcome = told.value ->> 2, error_code = told.value ->> 3,
        error_title = told.value ->> 4
     FROM json_each($1) AS told
     WHERE send_attempt.message_id = told.value ->> 0 AND send_attempt.number = told.value ->> 1",
    "UPDATE send_attempt SET ended_at = $2, outcome = told.value ->> 2,
        error_code = CAST(told.value ->> 3 AS bigint), error_title = told.value ->> 4
     FROM jsonb_array_elements($1) AS told (value)
     WHERE send_attempt.message_id = told.value ->> 0
        AND send_attempt.number = CAST(told.value ->> 1 AS bigint)",
);

/// `$1` lists `[message, attempts]`.
const DONE: Sql = sql_per(
    "DELETE FROM outbound WHERE seq IN (
        SELECT outbound.seq FROM json_each($1) AS told JOIN outbound ON outbound.message_id = told.value ->> 0
        WHERE outbound.attempts = told.value ->> 1)",
    "DELETE FROM outbound USING jsonb_array_elements($1) AS told (value)
     WHERE outbound.message_id = told.value ->> 0 AND outbound.attempts = CAST(told.value ->> 1 AS bigint)",
);

/// `$1` lists `[message, attempts, time, counted refusals]`.
const AGAIN: Sql = sql_per(
    "UPDATE outbound SET began_at = NULL, due_at = told.value ->> 2, refusals = refusals + (told.value ->> 3)
     FROM json_each($1) AS told
     WHERE outbound.message_id = told.value ->> 0 AND outbound.attempts = told.value ->> 1",
    "UPDATE outbound SET began_at = NULL, due_at = CAST(told.value ->> 2 AS bigint),
        refusals = refusals + CAST(told.value ->> 3 AS bigint)
     FROM jsonb_array_elements($1) AS told (value)
     WHERE outbound.message_id = told.value ->> 0 AND outbound.attempts = CAST(told.value ->> 1 AS bigint)",
);

pub(super) const UNANSWERED: Sql = sql(concat!(
    "SELECT ",
    COLUMNS,
    ", message.status FROM outbound JOIN message ON message.id = outbound.message_id
     LEFT JOIN session ON session.id = outbound.session_id
     WHERE outbound.began_at < $1 ORDER BY outbound.began_at LIMIT $2"
));

pub(super) const EXPIRED: Sql = sql(concat!(
    "SELECT ",
    COLUMNS,
    " FROM outbound LEFT JOIN session ON session.id = outbound.session_id
     WHERE outbound.queued_at < $1 AND outbound.began_at IS NULL ORDER BY outbound.queued_at LIMIT $2"
));

const STATE: &str = "SELECT channel_number.phone_number_id, channel_number.router_id, channel_number.access_token_encrypted, channel_number.active,
        number_pause.error_code, number_pause.error_title, number_pause.since
     FROM channel_number LEFT JOIN number_pause ON number_pause.phone_number_id = channel_number.phone_number_id ";

const NUMBERS: Sql = sql_list!(concat!(STATE, "WHERE channel_number.phone_number_id "), "$1", "");

const PAUSED: Sql =
    sql(concat!(STATE, "WHERE number_pause.since IS NOT NULL ORDER BY number_pause.since LIMIT 1000"));

/// `$1` lists `[number, code, title, time]`. Changes no row where the number was deleted meanwhile.
const PAUSE: Sql = sql_per(
    "INSERT INTO number_pause (phone_number_id, error_code, error_title, since)
     SELECT phone_number_id, new.value ->> 1, new.value ->> 2, new.value ->> 3
     FROM json_each($1) AS new CROSS JOIN channel_number WHERE phone_number_id = new.value ->> 0
     ON CONFLICT (phone_number_id) DO NOTHING",
    "INSERT INTO number_pause (phone_number_id, error_code, error_title, since)
     SELECT phone_number_id, CAST(new.value ->> 1 AS bigint), new.value ->> 2, CAST(new.value ->> 3 AS bigint)
     FROM jsonb_array_elements($1) AS new (value) JOIN channel_number ON phone_number_id = new.value ->> 0
     ON CONFLICT (phone_number_id) DO NOTHING",
);

const RESUME: Sql = sql_list!("DELETE FROM number_pause WHERE phone_number_id ", "$1", "");

const WAITING: Sql = sql("SELECT COUNT(*), MIN(queued_at) FROM outbound WHERE phone_number_id = $1");

const FORGET_ATTEMPTS: Sql = sql("DELETE FROM send_attempt WHERE began_at < $1
     AND NOT EXISTS (SELECT 1 FROM outbound WHERE outbound.message_id = send_attempt.message_id)");

super::statement::statements! {
    ENQUEUE, DUE, BEGIN, NOTE_ATTEMPTS, END, DONE, AGAIN, UNANSWERED, EXPIRED, NUMBERS, PAUSED, PAUSE, RESUME, WAITING,
    FORGET_ATTEMPTS;
}

super::accessor::has!(HasOutbound::outbound -> OutboundRepository);

/// Event, contact, attempts, refusals, time of entry, beginning of the call, epoch and beginning of the session.
type Row =
    With<(String, ContactId, i64, i64, Timestamp, Option<Timestamp>), (Option<i64>, Option<Timestamp>)>;
type StateRow =
    With<(String, RouterId, Option<Encrypted>, bool), (Option<i64>, Option<String>, Option<Timestamp>)>;

fn outbound(
    With((event, contact_id, attempts, refusals, queued_at, began_at), (epoch, started_at)): Row,
) -> Result<Outbound, StorageError> {
    let event = serde_json::from_str(&event).map_err(|error| corrupt("outbound")(&error))?;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    // The first epoch of a session is the time at which it began.
    let owners = epoch.zip(started_at).map(|(now, began)| Owners { first: began.as_millis(), now });
    let (attempts, refusals) = (count(attempts), count(refusals));
    Ok(Outbound { event, contact_id, attempts, refusals, queued_at, began_at, owners })
}

fn state(
    With((phone_number_id, router_id, access_token, active), (code, title, since)): StateRow,
) -> NumberState {
    let pause = code.zip(since).map(|(code, since)| Pause { error: StatusError { code, title }, since });
    NumberState { phone_number_id, router_id, access_token, active, pause }
}

#[async_trait]
impl OutboundRepository for SqlTx {
    async fn enqueue(&mut self, events: &[&OutgoingEvent], now: Timestamp) -> Result<(), StorageError> {
        let row = |event: &&OutgoingEvent| {
            let text = serde_json::to_string(event).unwrap_or_default();
            let session = &event.session_id;
            (
                event.internal_id.clone(),
                session.to_string(),
                session.transport().to_owned(),
                text,
                Priority::of(event),
            )
        };
        let rows: Vec<_> = events.iter().map(row).collect();
        self.conn.execute(ENQUEUE, (Json(&rows), now)).await.map(drop)
    }

    async fn due(&mut self, now: Timestamp, each: u32, limit: u32) -> Result<Vec<Outbound>, StorageError> {
        let rows = self.conn.fetch_all::<Row>(DUE, (now, i64::from(each), i64::from(limit))).await?;
        rows.into_iter().map(outbound).collect()
    }

    async fn begin(
        &mut self,
        messages: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<(MessageId, u32)>, StorageError> {
        let begun = self.conn.fetch_all::<(MessageId, i64)>(BEGIN, (Json(messages), now)).await?;
        self.conn.execute(NOTE_ATTEMPTS, (Json(&begun), now)).await?;
        let number = |(id, number): (MessageId, i64)| (id, u32::try_from(number).unwrap_or(u32::MAX));
        Ok(begun.into_iter().map(number).collect())
    }

    async fn end(&mut self, attempts: &[Attempt], now: Timestamp) -> Result<(), StorageError> {
        let row = |attempt: &Attempt| {
            let error = attempt.error.as_ref();
            let title = error.and_then(|error| error.title.clone());
            (attempt.message.clone(), attempt.number, attempt.outcome, error.map(|error| error.code), title)
        };
        let rows: Vec<_> = attempts.iter().map(row).collect();
        self.conn.execute(END, (Json(&rows), now)).await.map(drop)
    }

    async fn settle(&mut self, settlements: &[Settlement]) -> Result<(), StorageError> {
        let (mut done, mut again) = (Vec::new(), Vec::new());
        for Settlement { message, attempts, outcome } in settlements {
            match outcome {
                SettlementOutcome::Done => done.push((message, attempts)),
                SettlementOutcome::Again(at) => again.push((message, attempts, at.as_millis(), 0)),
                SettlementOutcome::Refused(at) => again.push((message, attempts, at.as_millis(), 1)),
            }
        }
        if !done.is_empty() {
            self.conn.execute(DONE, (Json(&done),)).await?;
        }
        if !again.is_empty() {
            self.conn.execute(AGAIN, (Json(&again),)).await?;
        }
        Ok(())
    }

    async fn unanswered(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Outbound, Option<MessageStatus>)>, StorageError> {
        type Found = With<Row, (Option<MessageStatus>,)>;
        let rows = self.conn.fetch_all::<Found>(UNANSWERED, (before, i64::from(limit))).await?;
        rows.into_iter().map(|With(row, (status,))| Ok((outbound(row)?, status))).collect()
    }

    async fn expired(&mut self, before: Timestamp, limit: u32) -> Result<Vec<Outbound>, StorageError> {
        let rows = self.conn.fetch_all::<Row>(EXPIRED, (before, i64::from(limit))).await?;
        rows.into_iter().map(outbound).collect()
    }

    async fn numbers(&mut self, phone_number_ids: &[String]) -> Result<Vec<NumberState>, StorageError> {
        let rows = self.conn.fetch_all::<StateRow>(NUMBERS, (Json(phone_number_ids),)).await?;
        Ok(rows.into_iter().map(state).collect())
    }

    async fn paused(&mut self) -> Result<Vec<NumberState>, StorageError> {
        let rows = self.conn.fetch_all::<StateRow>(PAUSED, ()).await?;
        Ok(rows.into_iter().map(state).collect())
    }

    async fn pause(&mut self, pauses: &BTreeMap<String, Pause>) -> Result<(), StorageError> {
        let row = |(number, pause): (&String, &Pause)| {
            let StatusError { code, title } = &pause.error;
            (number.clone(), *code, title.clone(), pause.since.as_millis())
        };
        let rows: Vec<_> = pauses.iter().map(row).collect();
        self.conn.execute(PAUSE, (Json(&rows),)).await.map(drop)
    }

    async fn resume(&mut self, phone_number_ids: &[String]) -> Result<(), StorageError> {
        self.conn.execute(RESUME, (Json(phone_number_ids),)).await.map(drop)
    }

    async fn waiting(&mut self, phone_number_id: &str) -> Result<(i64, Option<Timestamp>), StorageError> {
        let found = self.conn.fetch_optional::<(i64, Option<Timestamp>)>(WAITING, (phone_number_id,)).await?;
        Ok(found.unwrap_or_default())
    }

    async fn forget_attempts(&mut self, before: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(FORGET_ATTEMPTS, (before,)).await
    }
}
