//! What principals may do, and the transaction that authentication needs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use flowsdk_auth::access::{AccessRepository, ApiClientAccess, Grant, UserAccess};
use flowsdk_auth::api_client::TokenHash;
use flowsdk_auth::permission::{Permissions, RouterScope};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ApiClientId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute_rows, fetch_all, id};
use super::statement::{RowsSql, Sql, sql_list};
use super::user::role;

/// Every request asks this, so group and user come in one step.
const USERS: Sql = sql_list!(
    "SELECT user_account.id, user_account.name, user_account.user_role, user_account.logged_out_at,
            user_group.permissions, user_group.router_ids
     FROM user_account LEFT JOIN user_group ON user_group.id = user_account.group_id WHERE user_account.id IN ",
    "$1",
    ""
);

const API_CLIENTS: Sql = sql_list!(
    "SELECT token_hash, id, name, active, expires_at, last_used_at, permissions, router_ids
     FROM api_client WHERE token_hash IN ",
    "$1",
    ""
);

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

#[async_trait]
impl AccessRepository for SqlTx {
    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<UserAccess>, StorageError> {
        type Row =
            (String, String, String, Option<i64>, Option<Json<Permissions>>, Option<Json<Vec<RouterId>>>);
        let rows = fetch_all!(self.conn, Row, USERS, Json(ids))?;
        rows.into_iter()
            .map(|(user_id, name, user_role, logged_out_at, permissions, router_ids)| {
                Ok(UserAccess {
                    id: id("user", user_id)?,
                    name,
                    role: role(&user_role)?,
                    logged_out_at: logged_out_at.map(Timestamp::from_millis),
                    grant: permissions
                        .zip(router_ids)
                        .map(|(Json(permissions), Json(router_ids))| grant(permissions, router_ids)),
                })
            })
            .collect()
    }

    async fn api_clients(
        &mut self,
        hashes: &[TokenHash],
    ) -> Result<Vec<(TokenHash, ApiClientAccess)>, StorageError> {
        type Row =
            (String, String, String, i64, Option<i64>, Option<i64>, Json<Permissions>, Json<Vec<RouterId>>);
        let hashes: Vec<&str> = hashes.iter().map(TokenHash::as_str).collect();
        let rows = fetch_all!(self.conn, Row, API_CLIENTS, Json(&hashes))?;
        rows.into_iter()
            .map(|(hash, client_id, name, active, expires_at, last_used_at, permissions, router_ids)| {
                let access = ApiClientAccess {
                    id: id("api_client", client_id)?,
                    name,
                    active: active != 0,
                    expires_at: expires_at.map(Timestamp::from_millis),
                    last_used_at: last_used_at.map(Timestamp::from_millis),
                    grant: grant(permissions.0, router_ids.0),
                };
                Ok((TokenHash::from_stored(hash), access))
            })
            .collect()
    }

    async fn touch_api_clients(&mut self, used: &[(ApiClientId, Timestamp)]) -> Result<(), StorageError> {
        // One row a client: of two rows that fit, the statement would take any.
        let mut latest: BTreeMap<&ApiClientId, Timestamp> = BTreeMap::new();
        for (client, at) in used {
            let known = latest.entry(client).or_insert(*at);
            *known = (*known).max(*at);
        }
        let latest: Vec<_> = latest.into_iter().collect();
        execute_rows!(self.conn, TOUCH_API_CLIENTS, &latest[..], |query, used| query
            .bind(used.0.as_str())
            .bind(used.1.as_millis()))
        .await
        .map(drop)
    }
}
