//! Flows and their versions.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow, FlowRepository, FlowVersion};
use flowsdk_core::id::{FlowId, FlowVersionId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, fetch_all, id, json, optional_id};
use super::statement::{Sql, sql, sql_list};

const INSERT: Sql = sql(
    "INSERT INTO flow (id, router_id, name, published_version_id, created_at) VALUES ($1, $2, $3, $4, $5)",
);

const INSERT_VERSION: Sql =
    sql("INSERT INTO flow_version (id, flow_id, router_id, flow_name, number, definition, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)");

const PUBLISH: Sql = sql("UPDATE flow SET published_version_id = $2 WHERE id = $1");

const FIND: Sql = sql_list!(
    "SELECT id, router_id, name, published_version_id, created_at FROM flow WHERE id IN ",
    "$1",
    ""
);

const FIND_VERSIONS: Sql = sql_list!(
    "SELECT id, flow_id, router_id, flow_name, number, definition, created_at FROM flow_version WHERE id IN ",
    "$1",
    ""
);

super::statement::statements! { INSERT, INSERT_VERSION, PUBLISH, FIND, FIND_VERSIONS }

#[async_trait]
impl FlowRepository for SqlTx {
    async fn insert(&mut self, flow: &Flow) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            flow.id.as_str(),
            flow.router_id.as_str(),
            flow.name.as_str(),
            flow.published_version_id.as_ref().map(|id| id.as_str()),
            flow.created_at.as_millis(),
        )
        .map(drop)
    }

    async fn publish(&mut self, version: &FlowVersion) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT_VERSION,
            version.id.as_str(),
            version.flow_id.as_str(),
            version.router_id.as_str(),
            version.flow_name.as_str(),
            version.number,
            json(&version.definition)?,
            version.created_at.as_millis(),
        )?;
        execute!(self.conn, PUBLISH, version.flow_id.as_str(), version.id.as_str()).map(drop)
    }

    async fn find_many(&mut self, ids: &[FlowId]) -> Result<Vec<Flow>, StorageError> {
        type Row = (String, String, String, Option<String>, i64);
        let rows = fetch_all!(self.conn, Row, FIND, Json(ids))?;
        rows.into_iter()
            .map(|(flow_id, router_id, name, version, created_at)| {
                Ok(Flow {
                    id: id("flow", flow_id)?,
                    router_id: id("flow", router_id)?,
                    name,
                    published_version_id: optional_id("flow", version)?,
                    created_at: Timestamp::from_millis(created_at),
                })
            })
            .collect()
    }

    async fn find_versions(&mut self, ids: &[FlowVersionId]) -> Result<Vec<FlowVersion>, StorageError> {
        type Row = (String, String, String, String, i64, Json<Value>, i64);
        let rows = fetch_all!(self.conn, Row, FIND_VERSIONS, Json(ids))?;
        rows.into_iter()
            .map(|(version_id, flow_id, router_id, flow_name, number, Json(definition), created_at)| {
                Ok(FlowVersion {
                    id: id("flow_version", version_id)?,
                    flow_id: id("flow_version", flow_id)?,
                    router_id: id("flow_version", router_id)?,
                    flow_name,
                    number,
                    definition,
                    created_at: Timestamp::from_millis(created_at),
                })
            })
            .collect()
    }
}
