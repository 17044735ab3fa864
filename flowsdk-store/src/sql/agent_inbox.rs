//! Events for AI agents that no turn has taken yet.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::inbox::{HasInbox, InboxRepository, Letter, Urgency};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list};

record! {
    Letter in "agent_inbox" {
        id, session_id, key, event: json, urgency, came_at
    }
}

static PUT: RowsSql = RowsSql::insert::<Letter>(" ON CONFLICT (key) DO NOTHING");

pub(super) const WAITING: Sql =
    sql("SELECT session_id, came_at, urgency FROM agent_inbox WHERE taken_at IS NULL ORDER BY id LIMIT $1");

pub(super) const OF_SESSIONS: Sql =
    sql_list!(concat!(Letter::SELECT, " WHERE taken_at IS NULL AND session_id "), "$1", " ORDER BY id");

/// What the contact wrote is in their chat; here it is not kept longer than it is needed.
const TAKE: Sql = sql_list!("UPDATE agent_inbox SET taken_at = $1, event = 'null' WHERE id ", "$2", "");

const FORGET: Sql = sql(
    "DELETE FROM agent_inbox WHERE id IN (SELECT id FROM agent_inbox WHERE taken_at < $1 ORDER BY taken_at LIMIT $2)",
);

super::statement::statements! { WAITING, OF_SESSIONS, TAKE, FORGET; PUT }

super::accessor::has!(HasInbox::inbox -> InboxRepository);

#[async_trait]
impl InboxRepository for SqlTx {
    async fn put(&mut self, letters: &[Letter]) -> Result<(), StorageError> {
        self.conn.insert_rows(&PUT, letters).await.map(drop)
    }

    async fn waiting(&mut self, limit: u32) -> Result<Vec<(SessionId, Timestamp, Urgency)>, StorageError> {
        self.conn.fetch_all(WAITING, (i64::from(limit),)).await
    }

    async fn of_sessions(&mut self, sessions: &[SessionId]) -> Result<Vec<Letter>, StorageError> {
        self.conn.fetch_all(OF_SESSIONS, (Json(sessions),)).await
    }

    async fn take(&mut self, ids: &[String], now: Timestamp) -> Result<(), StorageError> {
        self.conn.execute(TAKE, (now, Json(ids))).await.map(drop)
    }

    async fn forget(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(FORGET, (before, i64::from(limit))).await
    }
}
