//! Files of conversations.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::media::{
    HasMedia, MediaFile, MediaFilter, MediaId, MediaOutcome, MediaRepository, MediaStatus, StoredBlob,
};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked};
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    MediaFile in "media" {
        id, router_id, message_id, session_id, origin, kind, mime_type, filename, provider_id, phone_number_id, created_at;
        size, sha256, status, failure, attempts, due_at, updated_at
    }
}

static INSERT: RowsSql = RowsSql::insert::<MediaFile>("");

const FIND: Sql = sql(MediaFile::FIND);

const FIND_MANY: Sql = sql_list!(concat!(MediaFile::SELECT, " WHERE id "), "$1", "");

const OF_MESSAGES: Sql = sql_list!(concat!(MediaFile::SELECT, " WHERE message_id "), "$1", "");

pub(super) static LIST: ListSql<MediaFilter> = ListSql::of::<MediaFile>()
    .within("router_id")
    .indexed("media_newest", "media_by_router")
    .filters(&[Filter::of("status = {}", |filter: &MediaFilter| asked(&filter.status))
        .indexed("media_by_status", "media_by_router_status")]);

/// `$1` lists `[file, message]`.
const ATTACH: Sql = sql_per(
    "UPDATE media SET message_id = new.value ->> 1 FROM json_each($1) AS new
     WHERE media.id = new.value ->> 0 AND media.message_id IS NULL AND media.origin = 'visitor'",
    "UPDATE media SET message_id = new.value ->> 1 FROM jsonb_array_elements($1) AS new (value)
     WHERE media.id = new.value ->> 0 AND media.message_id IS NULL AND media.origin = 'visitor'",
);

const DUE: Sql = sql(concat!(MediaFile::SELECT, " WHERE due_at <= $1 ORDER BY due_at LIMIT $2"));

/// `$1` lists `[file, status, failure, size, digest, time of the next attempt, attempts more]`.
const NOTE: Sql = sql_per(
    concat!(
        "UPDATE media SET status = told.value ->> 1, failure = told.value ->> 2,
            size = COALESCE(told.value ->> 3, size), sha256 = COALESCE(told.value ->> 4, sha256),
            due_at = told.value ->> 5, attempts = attempts + (told.value ->> 6), updated_at = $2
         FROM json_each($1) AS told
         WHERE media.id = told.value ->> 0 AND ",
        COUNTS
    ),
    concat!(
        "UPDATE media SET status = told.value ->> 1, failure = told.value ->> 2,
            size = COALESCE(CAST(told.value ->> 3 AS bigint), size), sha256 = COALESCE(told.value ->> 4, sha256),
            due_at = CAST(told.value ->> 5 AS bigint), attempts = attempts + CAST(told.value ->> 6 AS bigint),
            updated_at = $2
         FROM jsonb_array_elements($1) AS told (value)
         WHERE media.id = told.value ->> 0 AND ",
        COUNTS
    ),
);
const COUNTS: &str = "(media.status = 'pending' OR told.value ->> 1 = 'expired') RETURNING media.id";

/// Files of contacts whose messages are gone, files of visitors that were not sent, uploads that broke off, and files of
/// routers that are gone.
const ORPHANS: Sql = sql("SELECT id FROM (
        SELECT id FROM media WHERE message_id IS NULL AND origin = 'contact'
        UNION SELECT id FROM media WHERE message_id IS NULL AND origin = 'visitor' AND created_at < $1
        UNION SELECT id FROM media WHERE status = 'pending' AND created_at < $1 AND due_at IS NULL AND message_id IS NULL
        UNION SELECT id FROM media WHERE router_id IS NULL) AS orphan
     LIMIT $2");

const OLDER: Sql =
    sql("SELECT id FROM media WHERE status = 'stored' AND created_at < $1 AND origin <> 'upload'
     ORDER BY created_at LIMIT $2");

const DELETE: Sql = sql_list!("DELETE FROM media WHERE id ", "$1", "");

super::statement::statements! { FIND, FIND_MANY, OF_MESSAGES, ATTACH, DUE, NOTE, ORPHANS, OLDER, DELETE; INSERT, LIST }

super::accessor::has!(HasMedia::media -> MediaRepository);

/// File, status, failure, size, digest, time of the next attempt, attempts more.
type Told<'a> =
    (&'a MediaId, &'static str, Option<&'static str>, Option<u64>, Option<&'a str>, Option<i64>, u32);

/// Returns the item of [`NOTE`] for an outcome.
fn told((id, outcome): &(MediaId, MediaOutcome)) -> Told<'_> {
    let (pending, failed) = (MediaStatus::Pending.name(), MediaStatus::Failed.name());
    match outcome {
        MediaOutcome::Stored(StoredBlob { size, sha256 }) => {
            (id, MediaStatus::Stored.name(), None, Some(*size), Some(sha256), None, 1)
        }
        MediaOutcome::Again(at) => (id, pending, None, None, None, Some(at.as_millis()), 1),
        MediaOutcome::Failed(failure) => (id, failed, Some(failure.name()), None, None, None, 1),
        MediaOutcome::Expired => (id, MediaStatus::Expired.name(), None, None, None, None, 0),
    }
}

#[async_trait]
impl MediaRepository for SqlTx {
    async fn insert_many(&mut self, files: &[MediaFile]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, files).await.map(drop)
    }

    async fn find(&mut self, id: &MediaId) -> Result<Option<MediaFile>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_many(&mut self, ids: &[MediaId]) -> Result<Vec<MediaFile>, StorageError> {
        self.conn.fetch_all(FIND_MANY, (Json(ids),)).await
    }

    async fn of_messages(&mut self, messages: &[MessageId]) -> Result<Vec<MediaFile>, StorageError> {
        self.conn.fetch_all(OF_MESSAGES, (Json(messages),)).await
    }

    async fn list(
        &mut self,
        filter: &MediaFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<MediaFile>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        self.conn.page(&LIST, filter, routers, page, MediaFile::place).await
    }

    async fn attach(&mut self, files: &[(MediaId, MessageId)]) -> Result<(), StorageError> {
        self.conn.execute(ATTACH, (Json(files),)).await.map(drop)
    }

    async fn due(&mut self, now: Timestamp, limit: u32) -> Result<Vec<MediaFile>, StorageError> {
        self.conn.fetch_all(DUE, (now, i64::from(limit))).await
    }

    async fn note(
        &mut self,
        outcomes: &[(MediaId, MediaOutcome)],
        now: Timestamp,
    ) -> Result<Vec<MediaId>, StorageError> {
        let rows: Vec<_> = outcomes.iter().map(told).collect();
        self.conn.fetch_column(NOTE, (Json(&rows), now)).await
    }

    async fn orphans(&mut self, before: Timestamp, limit: u32) -> Result<Vec<MediaId>, StorageError> {
        self.conn.fetch_column(ORPHANS, (before, i64::from(limit))).await
    }

    async fn older(&mut self, before: Timestamp, limit: u32) -> Result<Vec<MediaId>, StorageError> {
        self.conn.fetch_column(OLDER, (before, i64::from(limit))).await
    }

    async fn delete_many(&mut self, ids: &[MediaId]) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (Json(ids),)).await.map(drop)
    }
}
