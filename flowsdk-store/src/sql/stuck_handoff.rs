//! Handoffs that no queue has taken yet.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::intake::{HasStuckHandoffs, StuckHandoff, StuckHandoffRepository};

use super::SqlTx;
use super::list::{self, ListSql};
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list};

record! {
    StuckHandoff in "stuck_handoff" {
        session_id, router_id, created_at;
        event: json, attempts, due_at
    }
}

static PUT: RowsSql = RowsSql::insert::<StuckHandoff>(
    " ON CONFLICT (session_id) DO UPDATE SET event = excluded.event, attempts = excluded.attempts,
        due_at = excluded.due_at, created_at = excluded.created_at",
);

const REMOVE: Sql = sql_list!("DELETE FROM stuck_handoff WHERE session_id ", "$1", "");

const OF_SESSIONS: Sql = sql_list!(concat!(StuckHandoff::SELECT, " WHERE session_id "), "$1", "");

const DUE: Sql = sql(concat!(StuckHandoff::SELECT, " WHERE due_at <= $1 ORDER BY due_at LIMIT $2"));

const COUNT: Sql = sql("SELECT COUNT(*) FROM stuck_handoff");

pub(super) static LIST: ListSql<()> =
    ListSql::of::<StuckHandoff>().by("created_at", "session_id").within("router_id");

super::statement::statements! { REMOVE, OF_SESSIONS, DUE, COUNT; PUT, LIST }

super::accessor::has!(HasStuckHandoffs::stuck_handoffs -> StuckHandoffRepository);

#[async_trait]
impl StuckHandoffRepository for SqlTx {
    async fn put_many(&mut self, stuck: &[StuckHandoff]) -> Result<(), StorageError> {
        self.conn.insert_rows(&PUT, stuck).await.map(drop)
    }

    async fn remove_many(&mut self, sessions: &[SessionId]) -> Result<(), StorageError> {
        if sessions.is_empty() {
            return Ok(());
        }
        self.conn.execute(REMOVE, (Json(sessions),)).await.map(drop)
    }

    async fn of_sessions(&mut self, sessions: &[SessionId]) -> Result<Vec<StuckHandoff>, StorageError> {
        self.conn.fetch_all(OF_SESSIONS, (Json(sessions),)).await
    }

    async fn due(&mut self, now: Timestamp, limit: u32) -> Result<Vec<StuckHandoff>, StorageError> {
        self.conn.fetch_all(DUE, (now, i64::from(limit))).await
    }

    async fn count(&mut self) -> Result<i64, StorageError> {
        let counted: Vec<i64> = self.conn.fetch_column(COUNT, ()).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<StuckHandoff>, StorageError> {
        let routers = list::routers(router, only);
        self.conn.page(&LIST, &(), routers, page, StuckHandoff::place).await
    }
}
