//! Flows and their versions.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow, FlowCatalog as _, FlowRepository, FlowVersion, HasFlows, Written};
use flowsdk_core::id::{FlowId, FlowVersionId};

use super::SqlTx;
use super::bind::Binder;
use super::record::{All, Part, Record as _, record};
use super::row::Cells;
use super::statement::{Sql, sql, sql_list};

record! {
    Flow in "flow" {
        id, router_id, kind, created_at;
        name, published_version_id, test_version_id, updated_at
    }
}

record! {
    FlowVersion in "flow_version" { id, flow_id, router_id, flow_name, number, definition as Written, created_at }
}

/// The value is what is run and searched. The text is what authors see again.
impl Part for Written {
    const COLUMNS: &'static str = "definition, definition_text";
    const COUNT: usize = 2;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        let value = cells.json(table, "definition")?;
        Ok(Self::stored(value, cells.of(table, "definition_text")?))
    }

    fn bind(&self, to: &mut Binder<'_>) {
        to.bind(Json(&**self)).bind(self.text());
    }
}

const INSERT: Sql = sql(Flow::INSERT);

const PUBLISH: Sql = sql("UPDATE flow SET published_version_id = $2 WHERE id = $1");

const FIND: Sql = sql_list!(concat!(Flow::SELECT, " WHERE id "), "$1", "");

const FIND_VERSIONS: Sql = sql_list!(concat!(FlowVersion::SELECT, " WHERE id "), "$1", "");

super::statement::statements! { INSERT, PUBLISH, FIND, FIND_VERSIONS }

super::accessor::has!(HasFlows::flows -> FlowRepository);

#[async_trait]
impl FlowRepository for SqlTx {
    async fn insert(&mut self, flow: &Flow) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(flow)).await.map(drop)
    }

    async fn publish(&mut self, version: &FlowVersion) -> Result<(), StorageError> {
        self.insert_version(version).await?;
        self.conn.execute(PUBLISH, (&version.flow_id, &version.id)).await.map(drop)
    }

    async fn find_many(&mut self, ids: &[FlowId]) -> Result<Vec<Flow>, StorageError> {
        self.conn.fetch_all(FIND, (Json(ids),)).await
    }

    async fn find_versions(&mut self, ids: &[FlowVersionId]) -> Result<Vec<FlowVersion>, StorageError> {
        self.conn.fetch_all(FIND_VERSIONS, (Json(ids),)).await
    }
}
