//! API clients.

use async_trait::async_trait;
use flowsdk_auth::api_client::{ApiClient, ApiClientRepository, TokenHash};
use flowsdk_auth::permission::Permissions;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ApiClientId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::executor::{execute, fetch_all, fetch_optional, id, text};
use super::statement::{Sql, sql, sql_locking};
use super::{SqlTx, page};

type Row =
    (String, String, String, Json<Permissions>, Json<Vec<RouterId>>, i64, Option<i64>, Option<i64>, i64, i64);

fn client(row: Row) -> Result<ApiClient, StorageError> {
    let (
        client_id,
        name,
        token_hash,
        Json(permissions),
        Json(router_ids),
        active,
        expires_at,
        last_used_at,
        created_at,
        updated_at,
    ) = row;
    Ok(ApiClient {
        id: id("api_client", client_id)?,
        name,
        token_hash: TokenHash::from_stored(token_hash),
        permissions,
        router_ids,
        active: active != 0,
        expires_at: expires_at.map(Timestamp::from_millis),
        last_used_at: last_used_at.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, token_hash, permissions, router_ids, active, expires_at, last_used_at, created_at,
                updated_at
             FROM api_client WHERE ",
            $rest
        )
    };
}

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const INSERT: Sql = sql(
    "INSERT INTO api_client (id, name, token_hash, permissions, router_ids, active, expires_at, last_used_at,
                             created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
);

const SAVE: Sql =
    sql("UPDATE api_client SET name = $2, token_hash = $3, permissions = $4, router_ids = $5, active = $6,
        expires_at = $7, updated_at = $8
     WHERE id = $1");

const DELETE: Sql = sql("DELETE FROM api_client WHERE id = $1");

super::statement::statements! { FIND, FIND_FOR_UPDATE, LIST, INSERT, SAVE, DELETE }

#[async_trait]
impl ApiClientRepository for SqlTx {
    async fn find(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(client).transpose()
    }

    async fn find_for_update(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(client).transpose()
    }

    async fn list(&mut self, page: &PageRequest) -> Result<Page<ApiClient>, StorageError> {
        let (at, before) = page::before(page);
        let rows = fetch_all!(self.conn, Row, LIST, at, before, page::rows(page))?;
        page::of(rows, page, client, |client| (client.created_at, client.id.to_string()))
    }

    async fn insert(&mut self, client: &ApiClient) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            client.id.as_str(),
            text(&client.name),
            client.token_hash.as_str(),
            Json(&client.permissions),
            Json(&client.router_ids),
            i64::from(client.active),
            client.expires_at.map(Timestamp::as_millis),
            client.last_used_at.map(Timestamp::as_millis),
            client.created_at.as_millis(),
            client.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn save(&mut self, client: &ApiClient) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            client.id.as_str(),
            text(&client.name),
            client.token_hash.as_str(),
            Json(&client.permissions),
            Json(&client.router_ids),
            i64::from(client.active),
            client.expires_at.map(Timestamp::as_millis),
            client.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &ApiClientId) -> Result<bool, StorageError> {
        Ok(execute!(self.conn, DELETE, id.as_str())? == 1)
    }
}
