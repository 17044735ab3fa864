//! API clients.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::api_client::{ApiClient, ApiClientRepository, HasApiClients};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ApiClientId;
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::list::ListSql;
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    ApiClient in "api_client" {
        id, last_used_at, created_at;
        name, token_hash, permissions: json, router_ids: json, active, expires_at, updated_at
    }
}

const FIND: Sql = sql(concat!(ApiClient::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(ApiClient::SELECT, " WHERE id = $1"));

pub(super) static LIST: ListSql = ListSql::of::<ApiClient>();

const INSERT: Sql = sql(ApiClient::INSERT);

const SAVE: Sql = sql(ApiClient::UPDATE);

const DELETE: Sql = sql("DELETE FROM api_client WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasApiClients::api_clients -> ApiClientRepository);

#[async_trait]
impl ApiClientRepository for SqlTx {
    async fn find(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn list(&mut self, page: &PageRequest) -> Result<Page<ApiClient>, StorageError> {
        self.conn.page(&LIST, &(), None, page, Searched::place).await
    }

    async fn insert(&mut self, client: &ApiClient) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(client)).await.map(drop)
    }

    async fn save(&mut self, client: &ApiClient) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(client)).await.map(drop)
    }

    async fn delete(&mut self, id: &ApiClientId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(DELETE, (id,)).await? == 1)
    }
}
