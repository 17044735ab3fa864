//! Routers and static variables.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::page::{Page, PageRequest, Searched};
use flowsdk_core::router::{
    HasRouters, Route, Router, RouterRepository, StaticVariable, VariableOwner, Wording,
};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::ListSql;
use super::record::{All, Record as _, record};
use super::statement::{Sql, sql, sql_list};

record! {
    Router in "router" {
        id, created_at;
        name, initial_flow_id, tz, channel_verify_token, channel_app_secret = channel_app_secret_encrypted,
        llm_credential_id, logo_url, sentiment_config: json_or_null, copilot_config: json_or_null,
        helpdesk_agent_prefix_enabled, helpdesk_agent_prefix_template, fallback_texts: json_unless_empty,
        phone: json_unless_empty, updated_at
    }
}

const FIND: Sql = sql_list!(concat!(Router::SELECT, " WHERE id "), "$1", "");

pub(super) static LIST: ListSql = ListSql::of::<Router>().within("id");

const INSERT: Sql = sql(Router::INSERT);

const SET_INITIAL_FLOW: Sql = sql("UPDATE router SET initial_flow_id = $2 WHERE id = $1");

const ROUTER_VARIABLES: Sql = sql_list!(
    "SELECT router_id, key, value, value_encrypted FROM router_variable WHERE router_id ",
    "$1",
    ""
);

const FLOW_VARIABLES: Sql =
    sql_list!("SELECT flow_id, key, value, value_encrypted FROM flow_variable WHERE flow_id ", "$1", "");

const PUT_ROUTER_VARIABLE: Sql = sql(
    "INSERT INTO router_variable (id, router_id, key, value, value_encrypted, is_secret, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
     ON CONFLICT (router_id, key) DO UPDATE SET value = excluded.value,
        value_encrypted = excluded.value_encrypted, is_secret = excluded.is_secret,
        updated_at = excluded.updated_at",
);

const PUT_FLOW_VARIABLE: Sql = sql(
    "INSERT INTO flow_variable (id, flow_id, key, value, value_encrypted, is_secret, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
     ON CONFLICT (flow_id, key) DO UPDATE SET value = excluded.value,
        value_encrypted = excluded.value_encrypted, is_secret = excluded.is_secret,
        updated_at = excluded.updated_at",
);

super::statement::statements! {
    FIND, INSERT, SET_INITIAL_FLOW, ROUTER_VARIABLES, FLOW_VARIABLES, PUT_ROUTER_VARIABLE,
    PUT_FLOW_VARIABLE; LIST
}

super::accessor::has!(HasRouters::routers -> RouterRepository);

#[async_trait]
impl RouterRepository for SqlTx {
    async fn find_many(&mut self, ids: &[RouterId]) -> Result<Vec<Router>, StorageError> {
        self.conn.fetch_all(FIND, (Json(ids),)).await
    }

    async fn list(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError> {
        self.conn.page(&LIST, &(), only, page, Searched::place).await
    }

    async fn find_routes(&mut self, phone_number_ids: &[String]) -> Result<Vec<Route>, StorageError> {
        self.conn.routes(phone_number_ids).await
    }

    async fn wordings(&mut self, phone_number_ids: &[String]) -> Result<Vec<Wording>, StorageError> {
        self.conn.wordings(phone_number_ids).await
    }

    async fn insert(&mut self, router: &Router) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(router)).await.map(drop)
    }

    async fn set_initial_flow(
        &mut self,
        router: &RouterId,
        flow: Option<&FlowId>,
    ) -> Result<(), StorageError> {
        self.conn.execute(SET_INITIAL_FLOW, (router, flow)).await.map(drop)
    }

    async fn static_variables(
        &mut self,
        owners: &[VariableOwner],
    ) -> Result<Vec<StaticVariable>, StorageError> {
        let (mut routers, mut flows) = (Vec::new(), Vec::new());
        for owner in owners {
            match owner {
                VariableOwner::Router(id) => routers.push(id),
                VariableOwner::Flow(id) => flows.push(id),
            }
        }
        type OfRouter = (RouterId, String, Option<String>, Option<Encrypted>);
        type OfFlow = (FlowId, String, Option<String>, Option<Encrypted>);
        let mut variables = Vec::new();
        for (id, key, value, encrypted) in
            self.conn.fetch_all::<OfRouter>(ROUTER_VARIABLES, (Json(&routers),)).await?
        {
            variables.push(StaticVariable { owner: VariableOwner::Router(id), key, value, encrypted });
        }
        for (id, key, value, encrypted) in
            self.conn.fetch_all::<OfFlow>(FLOW_VARIABLES, (Json(&flows),)).await?
        {
            variables.push(StaticVariable { owner: VariableOwner::Flow(id), key, value, encrypted });
        }
        Ok(variables)
    }

    async fn put_static_variable(
        &mut self,
        id: &str,
        variable: &StaticVariable,
        now: Timestamp,
    ) -> Result<(), StorageError> {
        let (statement, owner) = match &variable.owner {
            VariableOwner::Router(router) => (PUT_ROUTER_VARIABLE, router.as_str()),
            VariableOwner::Flow(flow) => (PUT_FLOW_VARIABLE, flow.as_str()),
        };
        let StaticVariable { key, value, encrypted, .. } = variable;
        let is_secret = &encrypted.is_some();
        self.conn.execute(statement, (id, owner, key, value, encrypted, is_secret, now)).await.map(drop)
    }
}
