//! Saved filters of contacts.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::saved_filter::{HasSavedFilters, SavedFilter, SavedFilterId, SavedFilterRepository};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    SavedFilter in "contact_filter" {
        id, router_id, created_at;
        name, q, origin, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<SavedFilter>().within("router_id");

const FIND: Sql = sql(concat!(SavedFilter::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(SavedFilter::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(SavedFilter::INSERT);

const SAVE: Sql = sql(SavedFilter::UPDATE);

const DELETE: Sql = sql("DELETE FROM contact_filter WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasSavedFilters::saved_filters -> SavedFilterRepository);

#[async_trait]
impl SavedFilterRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<SavedFilter>, StorageError> {
        let place = |one: &SavedFilter| (one.created_at, one.id.to_string());
        self.conn.page(&LIST, &(), list::routers(router, only), page, place).await
    }

    async fn find(&mut self, id: &SavedFilterId) -> Result<Option<SavedFilter>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &SavedFilterId) -> Result<Option<SavedFilter>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert(&mut self, filter: &SavedFilter) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(filter)).await.map(drop)
    }

    async fn save(&mut self, filter: &SavedFilter) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(filter)).await.map(drop)
    }

    async fn delete(&mut self, id: &SavedFilterId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
