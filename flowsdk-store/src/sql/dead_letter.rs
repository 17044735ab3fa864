//! Dead letters.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::DeadLetterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::stream::dead_letter::{DeadLetter, DeadLetterFilter, DeadLetterRepository, FailedEntry};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;

use super::executor::{corrupt, execute, fetch_all_replanned, fetch_optional, id, optional_id, text};
use super::list::{Filter, ListSql};
use super::statement::{Sql, sql};
use super::{SqlTx, page};

const ENTITY: &str = "dead_letter";

/// The router is the one of the session that the key names.
const RECORD: Sql = sql("INSERT INTO dead_letter (id, topic, grp, source, key, payload, reason, attempts,
        router_id, first_failed_at, failed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, (SELECT router_id FROM session WHERE id = $5), $9, $10)
     ON CONFLICT (topic, grp, source) DO UPDATE SET attempts = dead_letter.attempts + excluded.attempts,
        reason = excluded.reason, failed_at = excluded.failed_at");

const FIND: Sql =
    sql("SELECT id, topic, grp, key, payload, reason, attempts, router_id, first_failed_at, failed_at
     FROM dead_letter WHERE id = $1");

const TAKE: Sql = sql("DELETE FROM dead_letter WHERE id = $1
     RETURNING id, topic, grp, key, payload, reason, attempts, router_id, first_failed_at, failed_at");

static LIST: ListSql = ListSql::new(
    "SELECT id, topic, grp, key, payload, reason, attempts, router_id, first_failed_at, failed_at FROM dead_letter",
    "dead_letter",
    ("failed_at", "id"),
    ("dead_letter", "failed_at", "id", "router_id"),
    &[Filter::of("topic = {}"), Filter::of("grp = {}")],
);

super::statement::statements! { RECORD, FIND, TAKE; LIST }

#[cfg(test)]
pub(super) fn lists() -> [(&'static str, &'static ListSql); 1] {
    [("dead_letter", &LIST)]
}

type Row = (String, String, String, String, String, String, i64, Option<String>, i64, i64);

fn dead_letter(row: Row) -> Result<DeadLetter, StorageError> {
    let (letter_id, topic, group, key, payload, reason, attempts, router, first_failed_at, failed_at) = row;
    Ok(DeadLetter {
        id: id(ENTITY, letter_id)?,
        topic: TopicName::from_name(&topic).ok_or_else(|| corrupt(ENTITY)(&topic))?,
        group,
        key,
        payload,
        reason,
        attempts: u32::try_from(attempts).map_err(|error| corrupt(ENTITY)(&error))?,
        router_id: optional_id(ENTITY, router)?,
        first_failed_at: Timestamp::from_millis(first_failed_at),
        failed_at: Timestamp::from_millis(failed_at),
    })
}

#[async_trait]
impl DeadLetterRepository for SqlTx {
    async fn record(&mut self, id: &DeadLetterId, entry: &FailedEntry) -> Result<(), StorageError> {
        execute!(
            self.conn,
            RECORD,
            id.as_str(),
            entry.topic.as_str(),
            entry.group.as_str(),
            entry.source.as_deref(),
            text(&entry.key),
            text(&entry.payload),
            text(entry.short_reason()),
            i64::from(entry.attempts),
            entry.first_failed_at.as_millis(),
            entry.failed_at.as_millis(),
        )
        .map(drop)
    }

    async fn list(
        &mut self,
        filter: &DeadLetterFilter,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StorageError> {
        let sql = LIST.of(false, &[filter.topic.is_some(), filter.group.is_some()]);
        let (at, before) = page::before(page);
        let rows = fetch_all_replanned!(
            self.conn,
            Row,
            sql,
            at,
            before,
            page::rows(page),
            None::<String>,
            filter.topic.map(TopicName::as_str),
            filter.group.as_deref().map(text),
        )?;
        page::of(rows, page, dead_letter, |letter| (letter.failed_at, letter.id.to_string()))
    }

    async fn find(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(dead_letter).transpose()
    }

    async fn take(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError> {
        fetch_optional!(self.conn, Row, TAKE, id.as_str())?.map(dead_letter).transpose()
    }
}
