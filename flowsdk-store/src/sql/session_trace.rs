//! Traces of sessions: a ring of rows a session, so that storing one never needs a deletion.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::{MAX_TRACES, SessionId, SessionTrace, SessionTraceRepository};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{execute, execute_rows, fetch_all, id, json, optional_id};
use super::statement::{RowsSql, Sql, sql};

type Row = (String, Option<String>, Option<String>, i64, String, Json<Value>, i64);

static STORE: RowsSql = RowsSql::new(
    "INSERT INTO session_trace (session_id, slot, router_id, contact_id, version, event, steps, created_at) VALUES ",
    8,
    " ON CONFLICT (session_id, slot) DO UPDATE SET
        router_id = excluded.router_id, contact_id = excluded.contact_id, version = excluded.version,
        event = excluded.event, steps = excluded.steps, created_at = excluded.created_at",
);

const TRACE: Sql =
    sql("SELECT session_id, router_id, contact_id, version, event, steps, created_at FROM session_trace
     WHERE session_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3");

const PURGE: Sql = sql("DELETE FROM session_trace WHERE (session_id, slot) IN
     (SELECT session_id, slot FROM session_trace WHERE created_at < $1 LIMIT $2)");

super::statement::statements! { TRACE, PURGE; STORE }

#[async_trait]
impl SessionTraceRepository for SqlTx {
    async fn store_many(&mut self, traces: &[SessionTrace]) -> Result<(), StorageError> {
        execute_rows!(self.conn, STORE, traces, |query, trace| query
            .bind(trace.session_id.as_str())
            .bind(trace.version.rem_euclid(i64::from(MAX_TRACES)))
            .bind(trace.router_id.as_ref().map(|router| router.as_str()))
            .bind(trace.contact_id.as_ref().map(|contact| contact.as_str()))
            .bind(trace.version)
            .bind(trace.event.as_str())
            .bind(json(&trace.steps)?)
            .bind(trace.created_at.as_millis()))
        .await
        .map(drop)
    }

    async fn purge(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError> {
        execute!(self.conn, PURGE, before.as_millis(), i64::from(limit))
    }

    async fn trace(
        &mut self,
        session: &SessionId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<SessionTrace>, StorageError> {
        let before = before.unwrap_or(i64::MAX);
        let rows = fetch_all!(self.conn, Row, TRACE, session.as_str(), before, i64::from(limit))?;
        rows.into_iter()
            .map(|(session_id, router_id, contact_id, version, event, Json(steps), created_at)| {
                let created_at = Timestamp::from_millis(created_at);
                Ok(SessionTrace {
                    session_id: id("session_trace", session_id)?,
                    router_id: optional_id("session_trace", router_id)?,
                    contact_id: optional_id("session_trace", contact_id)?,
                    version,
                    event,
                    steps,
                    created_at,
                })
            })
            .collect()
    }
}
