//! Traces of sessions: a ring of rows a session, so that storing one never needs a deletion.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::{HasTraces, MAX_TRACES, SessionId, SessionTrace, SessionTraceRepository};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::bind::Binder;
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql};

record! {
    SessionTrace in "session_trace" { session_id, router_id, contact_id, version, event, steps: json, created_at }
}

static STORE: RowsSql = RowsSql::new(
    concat!("INSERT INTO session_trace (", SessionTrace::COLUMNS, ", slot) VALUES "),
    SessionTrace::COUNT + 1,
    " ON CONFLICT (session_id, slot) DO UPDATE SET
        router_id = excluded.router_id, contact_id = excluded.contact_id, version = excluded.version,
        event = excluded.event, steps = excluded.steps, created_at = excluded.created_at",
);

const TRACE: Sql = sql(concat!(
    SessionTrace::SELECT,
    " WHERE session_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3"
));

const PURGE: Sql = sql("DELETE FROM session_trace WHERE (session_id, slot) IN
     (SELECT session_id, slot FROM session_trace WHERE created_at < $1 LIMIT $2)");

super::statement::statements! { TRACE, PURGE; STORE }

super::accessor::has!(HasTraces::traces -> SessionTraceRepository);

#[async_trait]
impl SessionTraceRepository for SqlTx {
    async fn store_many(&mut self, traces: &[SessionTrace]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, trace: &SessionTrace| {
            trace.bind(to);
            to.bind(trace.version.rem_euclid(i64::from(MAX_TRACES)));
        };
        self.conn.execute_rows(&STORE, traces, bind).await.map(drop)
    }

    async fn purge(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (before, i64::from(limit))).await
    }

    async fn trace(
        &mut self,
        session: &SessionId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<SessionTrace>, StorageError> {
        let before = before.unwrap_or(i64::MAX);
        self.conn.fetch_all(TRACE, (session, before, i64::from(limit))).await
    }
}
