//! The permissions of principals, and the transaction that authentication needs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::access::{AccessRepository, ApiClientAccess, Grant, HasAccess, UserAccess};
use flowsdk_auth::api_client::{ApiClient, TokenHash};
use flowsdk_auth::permission::{Permissions, RouterScope};
use flowsdk_auth::user::UserRole;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ApiClientId, RouterId, UserId};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::Record as _;
use super::statement::{RowsSql, Sql, sql_list};

/// Every request asks this, so group and user come in one step.
const USERS: Sql = sql_list!(
    "SELECT user_account.id, user_account.name, user_account.user_role, user_account.logged_out_at,
            user_group.permissions, user_group.router_ids
     FROM user_account LEFT JOIN user_group ON user_group.id = user_account.group_id WHERE user_account.id ",
    "$1",
    ""
);

const API_CLIENTS: Sql = sql_list!(concat!(ApiClient::SELECT, " WHERE token_hash "), "$1", "");

static TOUCH_API_CLIENTS: RowsSql = RowsSql::typed(
    "WITH new (id, used_at) AS (VALUES ",
    &["text", "bigint"],
    ") UPDATE api_client SET last_used_at = new.used_at FROM new
     WHERE api_client.id = new.id AND (api_client.last_used_at < new.used_at OR api_client.last_used_at IS NULL)",
);

super::statement::statements! { USERS, API_CLIENTS; TOUCH_API_CLIENTS }

fn grant(permissions: Permissions, router_ids: Vec<RouterId>) -> Grant {
    Grant { permissions, scope: RouterScope::of(router_ids) }
}

super::accessor::has!(HasAccess::access -> AccessRepository);

#[async_trait]
impl AccessRepository for SqlTx {
    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<UserAccess>, StorageError> {
        type Row = (
            UserId,
            String,
            UserRole,
            Option<Timestamp>,
            Option<Json<Permissions>>,
            Option<Json<Vec<RouterId>>>,
        );
        let rows = self.conn.fetch_all::<Row>(USERS, (Json(ids),)).await?;
        let access = |(id, name, role, logged_out_at, permissions, router_ids): Row| UserAccess {
            id,
            name,
            role,
            logged_out_at,
            grant: permissions.zip(router_ids).map(|(Json(permissions), Json(ids))| grant(permissions, ids)),
        };
        Ok(rows.into_iter().map(access).collect())
    }

    async fn api_clients(
        &mut self,
        hashes: &[TokenHash],
    ) -> Result<Vec<(TokenHash, ApiClientAccess)>, StorageError> {
        let hashes: Vec<&str> = hashes.iter().map(TokenHash::as_str).collect();
        let clients = self.conn.fetch_all::<ApiClient>(API_CLIENTS, (Json(&hashes),)).await?;
        let access = |client: ApiClient| {
            let access = ApiClientAccess {
                id: client.id,
                name: client.name,
                active: client.active,
                expires_at: client.expires_at,
                last_used_at: client.last_used_at,
                grant: grant(client.permissions, client.router_ids),
            };
            (client.token_hash, access)
        };
        Ok(clients.into_iter().map(access).collect())
    }

    async fn touch_api_clients(&mut self, used: &[(ApiClientId, Timestamp)]) -> Result<(), StorageError> {
        // One row a client: of two rows that fit, the statement would take any.
        let mut latest: BTreeMap<&ApiClientId, Timestamp> = BTreeMap::new();
        for (client, at) in used {
            let known = latest.entry(client).or_insert(*at);
            *known = (*known).max(*at);
        }
        let latest: Vec<_> = latest.into_iter().collect();
        self.conn
            .execute_rows(&TOUCH_API_CLIENTS, &latest[..], |to, used| {
                to.bind(used.0).bind(used.1);
            })
            .await
            .map(drop)
    }
}
