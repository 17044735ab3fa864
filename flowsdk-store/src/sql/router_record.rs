//! Records that belong to a router: one implementation of their repository for all of their tables.

use async_trait::async_trait;
use flowsdk_core::cell::Cell;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest, Searched};
use flowsdk_core::record::{HasRecords, RecordFilter as _, RecordRepository, RouterRecord};

use super::SqlTx;
use super::list::{self, Filter, ListSql};
use super::record::{All, Changes, Record};
use super::statement::{Sql, sql, sql_per};

/// The statements of a table, of which `F` is the filter of a list.
#[derive(Debug)]
pub(super) struct RecordSql<F: 'static = Option<RouterId>> {
    pub(super) list: ListSql<F>,
    find: Sql,
    /// On SQLite the one writer has locked everything.
    find_for_update: Sql,
    insert: Sql,
    save: Sql,
    delete: Sql,
}

impl<F> RecordSql<F> {
    /// The statements of the table of `R`, which has the columns `id`, `router_id` and `created_at`. `filters` are those of
    /// its list besides the router.
    pub(super) const fn of<R: Record>(filters: &'static [Filter<F>]) -> Self {
        Self {
            list: ListSql::of::<R>().within("router_id").filters(filters),
            find: sql(R::FIND),
            find_for_update: sql_per(R::FIND, R::FIND_FOR_UPDATE),
            insert: sql(R::INSERT),
            save: sql(R::UPDATE),
            delete: sql(R::DELETE),
        }
    }

    /// Returns every statement, so that a test can prepare them.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Sql> {
        let Self { list, find, find_for_update, insert, save, delete } = self;
        let mut all = list.all();
        all.extend([*find, *find_for_update, *insert, *save, *delete]);
        all
    }
}

/// A record whose rows are those of a table.
pub(super) trait RouterTable: Record + RouterRecord<Id: Cell> {
    /// Returns the statements of the table.
    fn sql() -> &'static RecordSql<Self::Filter>;
}

impl<R: RouterTable> HasRecords<R> for SqlTx {
    fn records(&mut self) -> &mut dyn RecordRepository<R> {
        self
    }
}

#[async_trait]
impl<R: RouterTable> RecordRepository<R> for SqlTx {
    async fn list(
        &mut self,
        filter: &R::Filter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<R>, StorageError> {
        let routers = list::routers(filter.router(), only);
        self.conn.page(&R::sql().list, filter, routers, page, Searched::place).await
    }

    async fn find(&mut self, id: &R::Id) -> Result<Option<R>, StorageError> {
        self.conn.fetch_optional(R::sql().find, (id,)).await
    }

    async fn find_for_update(&mut self, id: &R::Id) -> Result<Option<R>, StorageError> {
        self.conn.fetch_optional(R::sql().find_for_update, (id,)).await
    }

    async fn insert(&mut self, record: &R) -> Result<(), StorageError> {
        self.conn.execute(R::sql().insert, All(record)).await.map(drop)
    }

    async fn save(&mut self, record: &R) -> Result<(), StorageError> {
        self.conn.execute(R::sql().save, Changes(record)).await.map(drop)
    }

    async fn delete(&mut self, id: &R::Id) -> Result<(), StorageError> {
        self.conn.execute(R::sql().delete, (id,)).await.map(drop)
    }
}
