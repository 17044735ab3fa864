//! Integrations of routers.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{IntegrationId, RouterId};
use flowsdk_core::integration::{HasIntegrations, Integration, IntegrationRepository};
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    Integration in "integration" {
        id, router_id, kind, created_at;
        name, base_url, credentials = credentials_encrypted, settings: json, updated_at
    }
}

pub(super) static LIST: ListSql = ListSql::of::<Integration>().within("router_id");

const FIND: Sql = sql(concat!(Integration::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(Integration::SELECT, " WHERE id = $1"));

const INSERT: Sql = sql(Integration::INSERT);

const SAVE: Sql = sql(Integration::UPDATE);

const DELETE: Sql = sql("DELETE FROM integration WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasIntegrations::integrations -> IntegrationRepository);

#[async_trait]
impl IntegrationRepository for SqlTx {
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Integration>, StorageError> {
        self.conn.page(&LIST, &(), list::routers(router, only), page, Searched::place).await
    }

    async fn find(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn insert(&mut self, integration: &Integration) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(integration)).await.map(drop)
    }

    async fn save(&mut self, integration: &Integration) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(integration)).await.map(drop)
    }

    async fn delete(&mut self, id: &IntegrationId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
