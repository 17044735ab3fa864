//! Sessions.

use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::{
    FrozenSession, Mode, Position, Session, SessionId, SessionRepository, SessionWrite, Stop, StoredSession,
};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::types::Json;

use super::SqlTx;
use super::executor::{corrupt, execute, execute_rows, fetch_all, id};
use super::statement::{RowsSql, Sql, sql, sql_list};

/// What stands in `session.state`: everything that no query asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    position: Option<Position>,
    variables: Map<String, Value>,
    history: Vec<Stop>,
    #[serde(default)]
    redirects: Vec<Stop>,
    expiry_timeout: u64,
}

/// The same, borrowed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateRef<'a> {
    position: &'a Option<Position>,
    variables: &'a Map<String, Value>,
    history: &'a [Stop],
    #[serde(skip_serializing_if = "<[Stop]>::is_empty")]
    redirects: &'a [Stop],
    expiry_timeout: u64,
}

impl<'a> From<&'a Session> for StateRef<'a> {
    fn from(session: &'a Session) -> Self {
        Self {
            position: &session.position,
            variables: &session.variables,
            history: &session.history,
            redirects: &session.redirects,
            expiry_timeout: u64::try_from(session.expiry_timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

type Row = (
    String,
    i64,
    i64,
    String,
    String,
    String,
    String,
    Json<State>,
    i64,
    i64,
    Option<i64>,
    bool,
);

fn session(row: Row) -> Result<StoredSession, StorageError> {
    let (
        session_id,
        version,
        epoch,
        router_id,
        contact_id,
        chat_id,
        mode,
        Json(state),
        started_at,
        last_interaction_at,
        wake_at,
        frozen,
    ) = row;
    let mode = [Mode::Flow, Mode::Human, Mode::Agent]
        .into_iter()
        .find(|known| known.name() == mode)
        .ok_or_else(|| corrupt("session")(&mode))?;
    let session = Session {
        id: id("session", session_id)?,
        version,
        epoch,
        router_id: id("session", router_id)?,
        contact_id: id("session", contact_id)?,
        chat_id: id("session", chat_id)?,
        mode,
        position: state.position,
        variables: state.variables,
        history: state.history,
        redirects: state.redirects,
        expiry_timeout: Duration::from_millis(state.expiry_timeout),
        started_at: Timestamp::from_millis(started_at),
        last_interaction_at: Timestamp::from_millis(last_interaction_at),
        wake_at: wake_at.map(Timestamp::from_millis),
    };
    Ok(StoredSession { session, frozen })
}

/// Rows are locked in ascending id order.
pub(super) const FIND_FOR_UPDATE: Sql = sql_list!(
    "SELECT id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at, last_interaction_at, wake_at,
            EXISTS (SELECT 1 FROM frozen_session WHERE frozen_session.session_id = session.id)
     FROM session WHERE id IN ",
    "$1",
    " ORDER BY id",
    locking
);

/// Compare-and-set: an existing row is only rewritten when it has the version before this one, so fewer
/// rows change than were given when one is stale.
pub(super) static SAVE: RowsSql = RowsSql::new(
    "INSERT INTO session (id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at,
                          last_interaction_at, wake_at) VALUES ",
    11,
    " ON CONFLICT (id) DO UPDATE SET
        version = excluded.version, epoch = excluded.epoch, chat_id = excluded.chat_id, mode = excluded.mode,
        state = excluded.state, last_interaction_at = excluded.last_interaction_at, wake_at = excluded.wake_at
      WHERE session.version = excluded.version - 1",
);

pub(super) const DELETE: Sql = sql_list!("DELETE FROM session WHERE id IN ", "$1", "");

pub(super) const DUE: Sql = sql("SELECT id FROM session WHERE wake_at <= $1
     AND NOT EXISTS (SELECT 1 FROM frozen_session WHERE frozen_session.session_id = session.id)
     ORDER BY wake_at LIMIT $2");

pub(super) const FREEZE: Sql = sql(
    "INSERT INTO frozen_session (session_id, error_code, error_message, entry, frozen_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_id) DO NOTHING",
);

pub(super) const FROZEN_AMONG: Sql = sql_list!(
    "SELECT session_id FROM frozen_session WHERE session_id IN ",
    "$1",
    ""
);

pub(super) const KEEP: Sql = sql("INSERT INTO kept_entry (session_id, entry) VALUES ($1, $2)");

#[async_trait]
impl SessionRepository for SqlTx {
    async fn find_many_for_update(&mut self, ids: &[SessionId]) -> Result<Vec<StoredSession>, StorageError> {
        fetch_all!(self.conn, Row, FIND_FOR_UPDATE, Json(ids))?
            .into_iter()
            .map(session)
            .collect()
    }

    async fn save_many(&mut self, sessions: &[SessionWrite<'_>]) -> Result<(), StorageError> {
        let changed = execute_rows!(self.conn, SAVE, sessions, |query, write| query
            .bind(write.session.id.as_str())
            .bind(write.session.version)
            .bind(write.session.epoch)
            .bind(write.session.router_id.as_str())
            .bind(write.session.contact_id.as_str())
            .bind(write.session.chat_id.as_str())
            .bind(write.session.mode.name())
            .bind(Json(StateRef::from(write.session)))
            .bind(write.session.started_at.as_millis())
            .bind(write.session.last_interaction_at.as_millis())
            .bind(write.session.wake_at.map(Timestamp::as_millis)))
        .await?;
        if changed == sessions.len() as u64 {
            Ok(())
        } else {
            Err(StorageError::Stale { entity: "session" })
        }
    }

    async fn delete_many(&mut self, ids: &[&SessionId]) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, Json(ids)).map(drop)
    }

    async fn due(&mut self, now: Timestamp, limit: u32) -> Result<Vec<SessionId>, StorageError> {
        let rows = fetch_all!(self.conn, (String,), DUE, now.as_millis(), i64::from(limit))?;
        rows.into_iter().map(|(text,)| id("session", text)).collect()
    }

    async fn freeze(&mut self, frozen: &FrozenSession) -> Result<(), StorageError> {
        execute!(
            self.conn,
            FREEZE,
            frozen.session_id.as_str(),
            frozen.error.code.as_str(),
            frozen.error.message.as_str(),
            Json(&frozen.entry),
            frozen.frozen_at.as_millis(),
        )
        .map(drop)
    }

    async fn frozen_among(&mut self, ids: &[SessionId]) -> Result<Vec<SessionId>, StorageError> {
        let rows = fetch_all!(self.conn, (String,), FROZEN_AMONG, Json(ids))?;
        rows.into_iter().map(|(text,)| id("session", text)).collect()
    }

    async fn keep_entry(&mut self, session: &SessionId, entry: &Value) -> Result<(), StorageError> {
        execute!(self.conn, KEEP, session.as_str(), Json(entry)).map(drop)
    }
}
