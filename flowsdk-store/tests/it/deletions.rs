//! The router that a request names is deleted while the request runs.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::idempotency::{HasIdempotency, IdempotencyRepository};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::prelude::*;
use flowsdk_core::router::{
    Admitted, HasRouters, Route, Router, RouterRepository, StaticVariable, VariableOwner,
};
use flowsdk_core::saved_filter::{
    HasSavedFilters, NewSavedFilter, SavedFilterError, SavedFilterRepository, SavedFilters,
};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::{SqlStore, SqlTx};

use crate::support::databases::on_every_database;

on_every_database! {
    a_saved_filter_finds_its_router_gone,
}

/// A store whose routers are deleted as soon as they were found.
#[derive(Debug)]
struct Deleting(SqlStore);

struct DeletingTx(SqlTx);

#[async_trait]
impl Store for Deleting {
    type Tx = DeletingTx;

    async fn begin(&self) -> Result<DeletingTx, StorageError> {
        self.0.begin().await.map(DeletingTx)
    }

    async fn read(&self) -> Result<DeletingTx, StorageError> {
        self.0.read().await.map(DeletingTx)
    }

    fn generation(&self, of: Records) -> Option<u64> {
        self.0.generation(of)
    }
}

#[async_trait]
impl Transaction for DeletingTx {
    async fn commit(self) -> Result<(), StorageError> {
        self.0.commit().await
    }
}

impl HasIdempotency for DeletingTx {
    fn idempotency(&mut self) -> &mut dyn IdempotencyRepository {
        self.0.idempotency()
    }
}

impl HasSavedFilters for DeletingTx {
    fn saved_filters(&mut self) -> &mut dyn SavedFilterRepository {
        self.0.saved_filters()
    }
}

impl HasRouters for DeletingTx {
    fn routers(&mut self) -> &mut dyn RouterRepository {
        self
    }
}

#[async_trait]
impl RouterRepository for DeletingTx {
    async fn find_many(&mut self, ids: &[RouterId]) -> Result<Vec<Router>, StorageError> {
        let found = self.0.routers().find_many(ids).await?;
        for id in ids {
            self.0.router_catalog().delete(id).await?;
        }
        Ok(found)
    }

    async fn list(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError> {
        self.0.routers().list(only, page).await
    }

    async fn find_routes(&mut self, phone_number_ids: &[String]) -> Result<Vec<Route>, StorageError> {
        self.0.routers().find_routes(phone_number_ids).await
    }

    async fn insert(&mut self, router: &Router) -> Result<(), StorageError> {
        self.0.routers().insert(router).await
    }

    async fn set_initial_flow(&mut self, id: &RouterId, flow: Option<&FlowId>) -> Result<(), StorageError> {
        self.0.routers().set_initial_flow(id, flow).await
    }

    async fn static_variables(
        &mut self,
        owners: &[VariableOwner],
    ) -> Result<Vec<StaticVariable>, StorageError> {
        self.0.routers().static_variables(owners).await
    }

    async fn put_static_variable(
        &mut self,
        id: &str,
        variable: &StaticVariable,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        self.0.routers().put_static_variable(id, variable, now).await
    }
}

async fn a_saved_filter_finds_its_router_gone(store: SqlStore) {
    let cx = OpContext::system();
    let router = Router::new("router1".parse().expect("an id"), "R", cx.now());
    let mut tx = store.begin().await.expect("begin");
    tx.routers().insert(&router).await.expect("a router");
    tx.commit().await.expect("commit");
    let filters = SavedFilters::new(Arc::new(Deleting(store)), cx, Arc::new(NoChangeLog));
    let new = NewSavedFilter {
        router_id: router.id,
        name: "Do site".parse().expect("a name"),
        q: None,
        origin: None,
    };
    let author = Author { id: "ana".to_owned(), ip: "10.0.0.1".to_owned(), user_agent: None };
    let made = filters.create(&author, Admitted::trusted(new), None).await;
    assert!(matches!(made, Err(SavedFilterError::RouterUnknown(_))), "{made:?}");
}
