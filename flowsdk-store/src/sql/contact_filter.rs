//! Saved filters of contacts.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::admin::contact_filter::{
    ContactFilterId, ContactFilterRepository, HasContactFilters, SavedContactFilter,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    SavedContactFilter in "contact_filter" {
        id, router_id, created_at;
        name, q, origin, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<SavedContactFilter>().within("router_id");

const FIND: Sql = sql(concat!(SavedContactFilter::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(SavedContactFilter::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(SavedContactFilter::INSERT);

const SAVE: Sql = sql(SavedContactFilter::UPDATE);

const DELETE: Sql = sql("DELETE FROM contact_filter WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasContactFilters::contact_filters -> ContactFilterRepository);

#[async_trait]
impl ContactFilterRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<SavedContactFilter>, StorageError> {
        let place = |one: &SavedContactFilter| (one.created_at, one.id.to_string());
        self.conn.page(&LIST, &(), list::routers(router, only), page, place).await
    }

    async fn find(&mut self, id: &ContactFilterId) -> Result<Option<SavedContactFilter>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(
        &mut self,
        id: &ContactFilterId,
    ) -> Result<Option<SavedContactFilter>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert(&mut self, filter: &SavedContactFilter) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(filter)).await.map(drop)
    }

    async fn save(&mut self, filter: &SavedContactFilter) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(filter)).await.map(drop)
    }

    async fn delete(&mut self, id: &ContactFilterId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
