//! Dead letters.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::DeadLetterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::stream::dead_letter::{
    DeadLetter, DeadLetterFilter, DeadLetterRepository, FailedEntry, HasDeadLetters,
};

use super::SqlTx;
use super::list::{Filter, ListSql, asked};
use super::record::{Record as _, record};
use super::statement::{Sql, sql};

record! {
    DeadLetter in "dead_letter" {
        id, topic, group = grp, key, payload, reason, attempts, router_id, first_failed_at, failed_at
    }
}

/// The router is the one of the session that the key names.
const RECORD: Sql = sql("INSERT INTO dead_letter (id, topic, grp, source, key, payload, reason, attempts,
        router_id, first_failed_at, failed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, (SELECT router_id FROM session WHERE id = $5), $9, $10)
     ON CONFLICT (topic, grp, source) DO UPDATE SET attempts = dead_letter.attempts + excluded.attempts,
        reason = excluded.reason, failed_at = excluded.failed_at");

const FIND: Sql = sql(concat!(DeadLetter::SELECT, " WHERE id = $1"));

const TAKE: Sql = sql(concat!("DELETE FROM dead_letter WHERE id = $1 RETURNING ", DeadLetter::COLUMNS));

pub(super) static LIST: ListSql<DeadLetterFilter> =
    ListSql::of::<DeadLetter>().by("failed_at", "id").within("router_id").replanned().filters(&[
        Filter::of("topic = {}", |filter| asked(&filter.topic)),
        Filter::of("grp = {}", |filter| asked(&filter.group)),
    ]);

super::statement::statements! { RECORD, FIND, TAKE; LIST }

super::accessor::has!(HasDeadLetters::dead_letters -> DeadLetterRepository);

#[async_trait]
impl DeadLetterRepository for SqlTx {
    async fn record(&mut self, id: &DeadLetterId, entry: &FailedEntry) -> Result<(), StorageError> {
        let FailedEntry { topic, group, source, key, payload, attempts, .. } = entry;
        let (first, last) = (entry.first_failed_at, entry.failed_at);
        let binds = (id, topic, group, source, key, payload, entry.short_reason(), attempts, first, last);
        self.conn.execute(RECORD, binds).await.map(drop)
    }

    async fn list(
        &mut self,
        filter: &DeadLetterFilter,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StorageError> {
        let place = |letter: &DeadLetter| Cursor::of(letter.failed_at, &letter.id);
        self.conn.page(&LIST, filter, None, page, place).await
    }

    async fn find(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn take(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError> {
        self.conn.fetch_optional(TAKE, (id,)).await
    }
}
