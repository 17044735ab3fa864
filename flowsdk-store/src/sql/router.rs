//! Routers, the routes of their channels, and static variables.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Route, Router, RouterRepository, StaticVariable, VariableOwner};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::executor::{execute, fetch_all, id, optional_id};
use super::statement::{Sql, sql, sql_list};
use super::{SqlTx, page};

pub(super) type Row = (
    String,
    String,
    Option<String>,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<Json<Value>>,
    Option<Json<Value>>,
    i64,
    Option<String>,
    i64,
    i64,
);

pub(super) fn router(row: Row) -> Result<Router, StorageError> {
    let (
        router_id,
        name,
        flow,
        tz,
        channel_verify_token,
        channel_app_secret,
        llm_credential_id,
        logo_url,
        sentiment_config,
        copilot_config,
        prefix_enabled,
        helpdesk_agent_prefix_template,
        created_at,
        updated_at,
    ) = row;
    Ok(Router {
        id: id("router", router_id)?,
        name,
        initial_flow_id: optional_id("router", flow)?,
        tz,
        channel_verify_token,
        channel_app_secret: channel_app_secret.map(Encrypted::from_stored),
        llm_credential_id: optional_id("router", llm_credential_id)?,
        logo_url,
        sentiment_config: sentiment_config.map(|Json(value)| value),
        copilot_config: copilot_config.map(|Json(value)| value),
        helpdesk_agent_prefix_enabled: prefix_enabled != 0,
        helpdesk_agent_prefix_template,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, initial_flow_id, tz, channel_verify_token, channel_app_secret_encrypted,
                llm_credential_id, logo_url, sentiment_config, copilot_config, helpdesk_agent_prefix_enabled,
                helpdesk_agent_prefix_template, created_at, updated_at
             FROM router WHERE ",
            $rest
        )
    };
}

const FIND: Sql = sql_list!(select!("id IN "), "$1", "");

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const LIST_AMONG: Sql = sql_list!(
    select!("id IN "),
    "$4",
    " AND (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
);

/// Webchat only: the other channels bring their tables with them.
const FIND_ROUTES: Sql = sql_list!(
    "SELECT 'wc-' || webchat_channel.id, router.id, COALESCE(webchat_channel.initial_flow_id, router.initial_flow_id),
        webchat_channel.is_test_channel
     FROM webchat_channel JOIN router ON router.id = webchat_channel.router_id WHERE webchat_channel.id IN ",
    "$1",
    ""
);

const INSERT: Sql =
    sql("INSERT INTO router (id, name, initial_flow_id, tz, channel_verify_token, channel_app_secret_encrypted,
                         llm_credential_id, logo_url, sentiment_config, copilot_config,
                         helpdesk_agent_prefix_enabled, helpdesk_agent_prefix_template, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)");

/// Runs a statement that binds id and settings of a router, and then `$time`s.
macro_rules! execute_router {
    ($conn:expr, $sql:expr, $router:expr, $($time:expr),+) => {
        $crate::sql::executor::execute!(
            $conn,
            $sql,
            $router.id.as_str(),
            $crate::sql::executor::text(&$router.name),
            $router.initial_flow_id.as_ref().map(|id| id.as_str()),
            $crate::sql::executor::text(&$router.tz),
            $router.channel_verify_token.as_deref().map($crate::sql::executor::text),
            $router.channel_app_secret.as_ref().map(flowsdk_core::crypto::Encrypted::as_stored),
            $router.llm_credential_id.as_ref().map(|id| id.as_str()),
            $router.logo_url.as_deref().map($crate::sql::executor::text),
            $router.sentiment_config.as_ref().map($crate::sql::executor::json).transpose()?,
            $router.copilot_config.as_ref().map($crate::sql::executor::json).transpose()?,
            i64::from($router.helpdesk_agent_prefix_enabled),
            $router.helpdesk_agent_prefix_template.as_deref().map($crate::sql::executor::text),
            $($time),+
        )
    };
}
pub(super) use execute_router;

const SET_INITIAL_FLOW: Sql = sql("UPDATE router SET initial_flow_id = $2 WHERE id = $1");

const ROUTER_VARIABLES: Sql = sql_list!(
    "SELECT router_id, key, value, value_encrypted FROM router_variable WHERE router_id IN ",
    "$1",
    ""
);

const FLOW_VARIABLES: Sql =
    sql_list!("SELECT flow_id, key, value, value_encrypted FROM flow_variable WHERE flow_id IN ", "$1", "");

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

super::statement::statements! { FIND, LIST, LIST_AMONG, FIND_ROUTES, INSERT, SET_INITIAL_FLOW, ROUTER_VARIABLES, FLOW_VARIABLES, PUT_ROUTER_VARIABLE, PUT_FLOW_VARIABLE }

type VariableRow = (String, String, Option<String>, Option<String>);

fn variable(owner: VariableOwner, (_, key, value, encrypted): VariableRow) -> StaticVariable {
    StaticVariable { owner, key, value, encrypted: encrypted.map(Encrypted::from_stored) }
}

#[async_trait]
impl RouterRepository for SqlTx {
    async fn find_many(&mut self, ids: &[RouterId]) -> Result<Vec<Router>, StorageError> {
        fetch_all!(self.conn, Row, FIND, Json(ids))?.into_iter().map(router).collect()
    }

    async fn list(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError> {
        let ((at, before), limit) = (page::before(page), page::rows(page));
        let rows = match only {
            None => fetch_all!(self.conn, Row, LIST, at, before, limit)?,
            Some(only) => fetch_all!(self.conn, Row, LIST_AMONG, at, before, limit, Json(only))?,
        };
        page::of(rows, page, router, |router| (router.created_at, router.id.to_string()))
    }

    async fn find_routes(&mut self, phone_number_ids: &[String]) -> Result<Vec<Route>, StorageError> {
        let channels: Vec<&str> = phone_number_ids.iter().filter_map(|id| id.strip_prefix("wc-")).collect();
        let rows =
            fetch_all!(self.conn, (String, String, Option<String>, i64), FIND_ROUTES, Json(&channels))?;
        rows.into_iter()
            .map(|(phone_number_id, router, flow, is_test)| {
                Ok(Route {
                    phone_number_id,
                    router_id: id("router", router)?,
                    initial_flow_id: optional_id("router", flow)?,
                    is_test: is_test != 0,
                })
            })
            .collect()
    }

    async fn insert(&mut self, router: &Router) -> Result<(), StorageError> {
        execute_router!(
            self.conn,
            INSERT,
            router,
            router.created_at.as_millis(),
            router.updated_at.as_millis()
        )
        .map(drop)
    }

    async fn set_initial_flow(
        &mut self,
        router: &RouterId,
        flow: Option<&FlowId>,
    ) -> Result<(), StorageError> {
        execute!(self.conn, SET_INITIAL_FLOW, router.as_str(), flow.map(|id| id.as_str())).map(drop)
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
        let mut variables = Vec::new();
        for row in fetch_all!(self.conn, VariableRow, ROUTER_VARIABLES, Json(&routers))? {
            variables.push(variable(VariableOwner::Router(id("router_variable", row.0.clone())?), row));
        }
        for row in fetch_all!(self.conn, VariableRow, FLOW_VARIABLES, Json(&flows))? {
            variables.push(variable(VariableOwner::Flow(id("flow_variable", row.0.clone())?), row));
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
        execute!(
            self.conn,
            statement,
            id,
            owner,
            variable.key.as_str(),
            variable.value.as_deref(),
            variable.encrypted.as_ref().map(Encrypted::as_stored),
            i64::from(variable.encrypted.is_some()),
            now.as_millis(),
        )
        .map(drop)
    }
}
