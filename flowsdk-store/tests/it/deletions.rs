//! The router that a request names is deleted while the request runs.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_channels::channel_number::{
    ChannelNumberError, ChannelNumberRepository, ChannelNumbers, HasChannelNumbers,
};
use flowsdk_channels::phone::sending::{HasOutbound, OutboundRepository};
use flowsdk_channels::template::{NewTemplate, TemplateError, Templates};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{HttpAnswer, HttpCaller, HttpRequest, OutsideFailure};
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::idempotency::{HasIdempotency, IdempotencyRepository};
use flowsdk_core::integration::{HasIntegrations, IntegrationError, IntegrationRepository, Integrations};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::prelude::*;
use flowsdk_core::record::{HasRecords, RecordRepository, RouterRecord};
use flowsdk_core::router::{
    Admitted, HasRouters, Route, Router, RouterRepository, StaticVariable, VariableOwner, Wording,
};
use flowsdk_core::saved_filter::{NewSavedFilter, SavedFilterError, SavedFilters};
use flowsdk_core::session::{HasLiveSessions, LiveSessions};
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::FormKeyMaker;
use flowsdk_store::sql::{SqlStore, SqlTx};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::databases::on_every_database;

on_every_database! {
    a_saved_filter_finds_its_router_gone,
    an_integration_finds_its_router_gone,
    a_template_finds_its_router_gone,
    a_number_finds_its_router_gone,
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

impl HasIntegrations for DeletingTx {
    fn integrations(&mut self) -> &mut dyn IntegrationRepository {
        self.0.integrations()
    }
}

impl HasChannelNumbers for DeletingTx {
    fn channel_numbers(&mut self) -> &mut dyn ChannelNumberRepository {
        self.0.channel_numbers()
    }
}

impl HasOutbound for DeletingTx {
    fn outbound(&mut self) -> &mut dyn OutboundRepository {
        self.0.outbound()
    }
}

impl HasLiveSessions for DeletingTx {
    fn live_sessions(&mut self) -> &mut dyn LiveSessions {
        self.0.live_sessions()
    }
}

impl<R: RouterRecord> HasRecords<R> for DeletingTx
where
    SqlTx: HasRecords<R>,
{
    fn records(&mut self) -> &mut dyn RecordRepository<R> {
        self.0.records()
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

    async fn wordings(&mut self, phone_number_ids: &[String]) -> Result<Vec<Wording>, StorageError> {
        self.0.routers().wordings(phone_number_ids).await
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

/// An integration that is being created asks no server.
#[derive(Debug)]
struct NoHttp;

#[async_trait]
impl HttpCaller for NoHttp {
    async fn call(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        unreachable!("{request:?}")
    }
}

/// Stores a router, and returns its id with a store that deletes it.
async fn deleting(store: SqlStore, cx: &OpContext) -> (Arc<Deleting>, RouterId) {
    let router = Router::new("router1".parse().expect("an id"), "R", cx.now());
    let mut tx = store.begin().await.expect("begin");
    tx.routers().insert(&router).await.expect("a router");
    tx.commit().await.expect("commit");
    (Arc::new(Deleting(store)), router.id)
}

fn author() -> Author {
    Author { id: "ana".to_owned(), ip: "10.0.0.1".to_owned(), user_agent: None }
}

fn body<T: DeserializeOwned>(router: &RouterId, mut fields: Value) -> Admitted<T> {
    fields["routerId"] = json!(router);
    Admitted::trusted(serde_json::from_value(fields).expect("a body"))
}

async fn a_saved_filter_finds_its_router_gone(store: SqlStore) {
    let cx = OpContext::system();
    let (store, router) = deleting(store, &cx).await;
    let filters = SavedFilters::new(store, cx, Arc::new(NoChangeLog));
    let made =
        filters.create(&author(), body::<NewSavedFilter>(&router, json!({ "name": "Do site" })), None).await;
    assert!(matches!(made, Err(SavedFilterError::RouterUnknown(_))), "{made:?}");
}

async fn an_integration_finds_its_router_gone(store: SqlStore) {
    let cx = OpContext::system();
    let (store, router) = deleting(store, &cx).await;
    let key = Arc::new(MasterKey::new(&"k".repeat(32)).expect("a key"));
    let http = Arc::new(NoHttp);
    let integrations = Integrations::new(store, cx, key, http, Arc::new(NoChangeLog));
    let fields = json!({ "name": "CRM", "kind": "http", "baseUrl": "https://crm.example.com" });
    let made = integrations.create(&author(), body(&router, fields), None).await;
    assert!(matches!(made, Err(IntegrationError::RouterUnknown(_))), "{made:?}");
}

async fn a_template_finds_its_router_gone(store: SqlStore) {
    let cx = OpContext::system();
    let (store, router) = deleting(store, &cx).await;
    let templates = Templates::new(store, cx, Arc::new(NoChangeLog));
    let fields = json!({ "businessAccountId": "77", "name": "hello", "language": "pt_BR", "category": "UTILITY",
        "components": [{ "type": "BODY", "text": "Oi" }] });
    let made = templates.create(&author(), body::<NewTemplate>(&router, fields), None).await;
    assert!(matches!(made, Err(TemplateError::RouterUnknown(_))), "{made:?}");
}

async fn a_number_finds_its_router_gone(store: SqlStore) {
    let cx = OpContext::system();
    let (store, router) = deleting(store, &cx).await;
    let key = Arc::new(MasterKey::new(&"k".repeat(32)).expect("a key"));
    let numbers = ChannelNumbers::new(store, cx, key, FormKeyMaker::new(1, 1), Arc::new(NoChangeLog));
    let fields = json!({ "name": "Loja", "phoneNumberId": "111", "phoneNumber": "5511987654321",
        "businessAccountId": "77" });
    let made = numbers.create(&author(), body(&router, fields), None).await;
    assert!(matches!(made, Err(ChannelNumberError::RouterUnknown(_))), "{made:?}");
}
