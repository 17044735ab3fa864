//! Import drafts. Their files are large, and stand apart from what lists show.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::time::Timestamp;
use flowsdk_core::transfer::draft::{
    CheckedDraft, DraftCheck, DraftFilter, HasImportDrafts, ImportDraft, ImportDraftId, ImportDraftRepository,
};

use super::SqlTx;
use super::list::{self, Filter, ListSql, given};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    ImportDraft in "import_draft" {
        id, router_id, on_conflict, size, is_valid, created_at, expires_at;
        status, applied_at
    }
}

/// A router has few drafts, so they are looked at one by one.
pub(super) static LIST: ListSql<DraftFilter> =
    ListSql::of::<ImportDraft>().within("router_id").filters(&[Filter::per(
        "+expires_at > {}",
        "expires_at > {}",
        |filter: &DraftFilter| given(&filter.now),
    )
    .always()]);

const FIND: Sql = sql(concat!(ImportDraft::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(ImportDraft::SELECT, " WHERE id = $1"));

const COUNT: Sql = sql("SELECT COUNT(*) FROM import_draft WHERE router_id = $1 AND expires_at > $2");

const FILE: Sql = sql("SELECT file FROM import_draft_file WHERE draft_id = $1");

const INSERT: Sql = sql(ImportDraft::INSERT);

const CHECK: Sql = sql("SELECT result FROM import_draft_file WHERE draft_id = $1");

const INSERT_FILE: Sql = sql("INSERT INTO import_draft_file (draft_id, result, file) VALUES ($1, $2, $3)");

const SAVE: Sql = sql(ImportDraft::UPDATE);

const DELETE: Sql = sql("DELETE FROM import_draft WHERE id = $1");

const PURGE: Sql = sql("DELETE FROM import_draft WHERE id IN
     (SELECT id FROM import_draft WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)");

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, COUNT, FILE, CHECK, INSERT, INSERT_FILE, SAVE, DELETE, PURGE; LIST
}

super::accessor::has!(HasImportDrafts::import_drafts -> ImportDraftRepository);

#[async_trait]
impl ImportDraftRepository for SqlTx {
    async fn list(
        &mut self,
        filter: &DraftFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ImportDraft>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |one: &ImportDraft| Cursor::of(one.created_at, &one.id);
        self.conn.page(&LIST, filter, routers, page, place).await
    }

    async fn find(&mut self, id: &ImportDraftId) -> Result<Option<ImportDraft>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &ImportDraftId) -> Result<Option<ImportDraft>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn count(&mut self, router: &RouterId, now: Timestamp) -> Result<i64, StorageError> {
        Ok(self.conn.fetch_column(COUNT, (router, now)).await?.into_iter().next().unwrap_or(0))
    }

    async fn file(&mut self, id: &ImportDraftId) -> Result<Option<String>, StorageError> {
        Ok(self.conn.fetch_column(FILE, (id,)).await?.into_iter().next())
    }

    async fn check(&mut self, id: &ImportDraftId) -> Result<Option<DraftCheck>, StorageError> {
        let stored: Vec<Json<DraftCheck>> = self.conn.fetch_column(CHECK, (id,)).await?;
        Ok(stored.into_iter().next().map(|Json(check)| check))
    }

    async fn insert(&mut self, draft: &CheckedDraft, file: &str) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(&draft.draft)).await?;
        self.conn.execute(INSERT_FILE, (&draft.draft.id, Json(&draft.check), file)).await.map(drop)
    }

    async fn save(&mut self, draft: &ImportDraft) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(draft)).await.map(drop)
    }

    async fn delete(&mut self, id: &ImportDraftId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }

    async fn purge(&mut self, now: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (now, i64::from(limit))).await
    }
}
