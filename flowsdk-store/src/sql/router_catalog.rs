//! Routers, as they are administered.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::{Router, RouterCatalog};

use super::SqlTx;
use super::executor::{execute, fetch_optional, text};
use super::router::{Row, execute_router, router};
use super::statement::{Sql, sql, sql_locking};

const FIND_FOR_UPDATE: Sql = sql_locking!(
    "SELECT id, name, initial_flow_id, tz, channel_verify_token, channel_app_secret_encrypted,
        llm_credential_id, logo_url, sentiment_config, copilot_config, helpdesk_agent_prefix_enabled,
        helpdesk_agent_prefix_template, created_at, updated_at
     FROM router WHERE id = $1"
);

const HAS_NAME: Sql = sql("SELECT COUNT(*) FROM router WHERE name = $1");

const SAVE: Sql =
    sql("UPDATE router SET name = $2, initial_flow_id = $3, tz = $4, channel_verify_token = $5,
        channel_app_secret_encrypted = $6, llm_credential_id = $7, logo_url = $8, sentiment_config = $9,
        copilot_config = $10, helpdesk_agent_prefix_enabled = $11, helpdesk_agent_prefix_template = $12,
        updated_at = $13 WHERE id = $1");

/// An open chat is one of a router.
const CLOSE_CHATS: Sql = sql("UPDATE chat SET status = 'closed' WHERE router_id = $1 AND status = 'open'");

/// Foreign keys take everything along that belongs to it.
const DELETE: Sql = sql("DELETE FROM router WHERE id = $1");

super::statement::statements! { FIND_FOR_UPDATE, HAS_NAME, SAVE, CLOSE_CHATS, DELETE }

#[async_trait]
impl RouterCatalog for SqlTx {
    async fn find_for_update(&mut self, id: &RouterId) -> Result<Option<Router>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(router).transpose()
    }

    async fn has_name(&mut self, name: &str) -> Result<bool, StorageError> {
        let row = fetch_optional!(self.conn, (i64,), HAS_NAME, text(name))?;
        Ok(row.is_some_and(|(count,)| count > 0))
    }

    async fn save(&mut self, router: &Router) -> Result<(), StorageError> {
        execute_router!(self.conn, SAVE, router, router.updated_at.as_millis()).map(drop)
    }

    async fn delete(&mut self, id: &RouterId) -> Result<(), StorageError> {
        execute!(self.conn, CLOSE_CHATS, id.as_str())?;
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }
}
