//! Routers, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::{HasRouterCatalog, Router, RouterCatalog};

use super::SqlTx;
use super::record::{Changes, Record as _};
use super::statement::{Sql, sql, sql_locking};

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(Router::SELECT, " WHERE id = $1"));

const HAS_NAME: Sql = sql("SELECT COUNT(*) FROM router WHERE name = $1");

const SAVE: Sql = sql(Router::UPDATE);

/// An open chat is one of a router.
const CLOSE_CHATS: Sql = sql("UPDATE chat SET status = 'closed' WHERE router_id = $1 AND status = 'open'");

/// Foreign keys take everything along that belongs to it.
const DELETE: Sql = sql("DELETE FROM router WHERE id = $1");

super::statement::statements! { FIND_FOR_UPDATE, HAS_NAME, SAVE, CLOSE_CHATS, DELETE }

super::accessor::has!(HasRouterCatalog::router_catalog -> RouterCatalog);

#[async_trait]
impl RouterCatalog for SqlTx {
    async fn find_for_update(&mut self, id: &RouterId) -> Result<Option<Router>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn has_name(&mut self, name: &str) -> Result<bool, StorageError> {
        let row = self.conn.fetch_optional::<(i64,)>(HAS_NAME, (name,)).await?;
        Ok(row.is_some_and(|(count,)| count > 0))
    }

    async fn save(&mut self, router: &Router) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(router)).await.map(drop)
    }

    async fn delete(&mut self, id: &RouterId) -> Result<(), StorageError> {
        self.conn.execute(CLOSE_CHATS, (id,)).await?;
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }
}
