//! Flows and their versions.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow, FlowCatalog as _, FlowKind, FlowRepository, FlowVersion};
use flowsdk_core::id::{FlowId, FlowVersionId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_all, id, optional_id, text};
use super::statement::{Sql, sql, sql_list};

const INSERT: Sql =
    sql("INSERT INTO flow (id, router_id, name, kind, published_version_id, test_version_id, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");

const PUBLISH: Sql = sql("UPDATE flow SET published_version_id = $2 WHERE id = $1");

const FIND: Sql = sql_list!(
    "SELECT id, router_id, name, kind, published_version_id, test_version_id, created_at, updated_at
     FROM flow WHERE id IN ",
    "$1",
    ""
);

const FIND_VERSIONS: Sql = sql_list!(
    "SELECT id, flow_id, router_id, flow_name, number, definition, created_at FROM flow_version WHERE id IN ",
    "$1",
    ""
);

super::statement::statements! { INSERT, PUBLISH, FIND, FIND_VERSIONS }

/// Id, router, name, kind, published and test version, times.
pub(super) type FlowRow = (String, String, String, String, Option<String>, Option<String>, i64, i64);

pub(super) fn flow(row: FlowRow) -> Result<Flow, StorageError> {
    let (flow_id, router_id, name, kind, published, test, created_at, updated_at) = row;
    Ok(Flow {
        id: id("flow", flow_id)?,
        router_id: id("flow", router_id)?,
        name,
        kind: FlowKind::parse(&kind).ok_or_else(|| corrupt("flow")(&kind))?,
        published_version_id: optional_id("flow", published)?,
        test_version_id: optional_id("flow", test)?,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

/// Id, flow, router, name, number, definition, time.
pub(super) type VersionRow = (String, String, String, String, i64, Json<Value>, i64);

pub(super) fn version(row: VersionRow) -> Result<FlowVersion, StorageError> {
    let (version_id, flow_id, router_id, flow_name, number, Json(definition), created_at) = row;
    Ok(FlowVersion {
        id: id("flow_version", version_id)?,
        flow_id: id("flow_version", flow_id)?,
        router_id: id("flow_version", router_id)?,
        flow_name,
        number,
        definition,
        created_at: Timestamp::from_millis(created_at),
    })
}

#[async_trait]
impl FlowRepository for SqlTx {
    async fn insert(&mut self, flow: &Flow) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            flow.id.as_str(),
            flow.router_id.as_str(),
            text(&flow.name),
            flow.kind.name(),
            flow.published_version_id.as_ref().map(|id| id.as_str()),
            flow.test_version_id.as_ref().map(|id| id.as_str()),
            flow.created_at.as_millis(),
            flow.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn publish(&mut self, version: &FlowVersion) -> Result<(), StorageError> {
        self.insert_version(version).await?;
        execute!(self.conn, PUBLISH, version.flow_id.as_str(), version.id.as_str()).map(drop)
    }

    async fn find_many(&mut self, ids: &[FlowId]) -> Result<Vec<Flow>, StorageError> {
        fetch_all!(self.conn, FlowRow, FIND, Json(ids))?.into_iter().map(flow).collect()
    }

    async fn find_versions(&mut self, ids: &[FlowVersionId]) -> Result<Vec<FlowVersion>, StorageError> {
        fetch_all!(self.conn, VersionRow, FIND_VERSIONS, Json(ids))?.into_iter().map(version).collect()
    }
}
