//! Sessions.

pub(super) mod stops;

use std::collections::HashSet;
use std::time::Duration;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::event::FlowEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{
    AgentState, Call, FrozenError, FrozenSession, HasSessions, HelpdeskState, HistoryKind, MAX_AHEAD,
    MAX_HISTORY, Mode, Pending, Position, Redirect, Session, SessionId, SessionRepository, SessionWrite,
    Standstill, Stop, StoredSession,
};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SqlTx;
use super::bind::Binder;
use super::record::{Part, Record as _, record};
use super::row::{Cells, Row};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

/// The value of `session.state`: everything that no query asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    position: Option<Position>,
    variables: Map<String, Value>,
    #[serde(deserialize_with = "stops::read")]
    history: Vec<Stop>,
    /// Written while `history` is full. A process of an earlier version drops it.
    #[serde(default)]
    stops_before: Option<i64>,
    #[serde(default)]
    redirects: Vec<Redirect>,
    /// The same of `redirects`.
    #[serde(default)]
    redirects_before: Option<i64>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    agent: Option<Box<AgentState>>,
    #[serde(default)]
    helpdesk: Option<HelpdeskState>,
    #[serde(default)]
    pending: Option<Box<Pending>>,
    #[serde(default)]
    deferred: Vec<IncomingMessage>,
    /// As long as it asked nothing of the outside, the moment at which it began.
    #[serde(default)]
    effect_seq: Option<i64>,
    expiry_timeout: u64,
}

/// The same fields, borrowed for writing.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateRef<'a> {
    position: &'a Option<Position>,
    variables: &'a Map<String, Value>,
    #[serde(serialize_with = "stops::write")]
    history: &'a [Stop],
    #[serde(skip_serializing_if = "Option::is_none")]
    stops_before: Option<i64>,
    #[serde(skip_serializing_if = "<[Redirect]>::is_empty")]
    redirects: &'a [Redirect],
    #[serde(skip_serializing_if = "Option::is_none")]
    redirects_before: Option<i64>,
    #[serde(skip_serializing_if = "<[Call]>::is_empty")]
    calls: &'a [Call],
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: &'a Option<Box<AgentState>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    helpdesk: &'a Option<HelpdeskState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: &'a Option<Box<Pending>>,
    #[serde(skip_serializing_if = "<[IncomingMessage]>::is_empty")]
    deferred: &'a [IncomingMessage],
    #[serde(skip_serializing_if = "Option::is_none")]
    effect_seq: Option<i64>,
    expiry_timeout: u64,
}

impl<'a> From<&'a Session> for StateRef<'a> {
    fn from(session: &'a Session) -> Self {
        Self {
            position: &session.position,
            variables: &session.variables,
            history: &session.history,
            stops_before: Some(session.stops_before).filter(|_| is_full(&session.history)),
            redirects: &session.redirects,
            redirects_before: Some(session.redirects_before).filter(|_| is_full(&session.redirects)),
            calls: &session.calls,
            agent: &session.agent,
            helpdesk: &session.helpdesk,
            pending: &session.pending,
            deferred: &session.deferred,
            effect_seq: Some(session.effect_seq).filter(|&seq| seq != session.started_at.as_millis()),
            expiry_timeout: u64::try_from(session.expiry_timeout.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

fn is_full<T>(latest: &[T]) -> bool {
    latest.len() >= MAX_HISTORY
}

/// A session as its row has it.
pub(super) struct SessionRow {
    pub(super) stored: StoredSession,
    /// The lists that are full, and of which the row does not say how many entries were before.
    pub(super) uncounted: Vec<HistoryKind>,
}

/// The columns that a [`StoredSession`] is read from.
pub(super) const COLUMNS: &str =
    "id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at, last_interaction_at, wake_at,
        EXISTS (SELECT 1 FROM frozen_session WHERE frozen_session.session_id = session.id), ahead";

/// As it is listed: the number of entries before a full list may be missing.
impl Row for StoredSession {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        SessionRow::read(cells).map(|row| row.stored)
    }
}

impl Row for SessionRow {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        const TABLE: &str = "session";
        let id = cells.of(TABLE, "id")?;
        let version = cells.of(TABLE, "version")?;
        let epoch = cells.of(TABLE, "epoch")?;
        let router_id = cells.of(TABLE, "router_id")?;
        let contact_id = cells.of(TABLE, "contact_id")?;
        let chat_id = cells.of(TABLE, "chat_id")?;
        let mode = cells.of(TABLE, "mode")?;
        let state: State = cells.json(TABLE, "state")?;
        let mut uncounted = Vec::new();
        if is_full(&state.history) && state.stops_before.is_none() {
            uncounted.push(HistoryKind::Stop);
        }
        if is_full(&state.redirects) && state.redirects_before.is_none() {
            uncounted.push(HistoryKind::Redirect);
        }
        let started_at: Timestamp = cells.of(TABLE, "started_at")?;
        let session = Session {
            id,
            version,
            epoch,
            router_id,
            contact_id,
            chat_id,
            mode,
            position: state.position,
            variables: state.variables,
            history: state.history,
            stops_before: state.stops_before.unwrap_or(0),
            redirects: state.redirects,
            redirects_before: state.redirects_before.unwrap_or(0),
            archive: Vec::new(),
            calls: state.calls,
            agent: state.agent,
            helpdesk: state.helpdesk,
            pending: state.pending,
            deferred: state.deferred,
            effect_seq: state.effect_seq.unwrap_or(started_at.as_millis()),
            expiry_timeout: Duration::from_millis(state.expiry_timeout),
            started_at,
            last_interaction_at: cells.of(TABLE, "last_interaction_at")?,
            wake_at: cells.of(TABLE, "wake_at")?,
        };
        let frozen = cells.next()?;
        let ahead = cells.json_or_null(TABLE, "ahead")?.unwrap_or_default();
        Ok(Self { stored: StoredSession { session, frozen, ahead }, uncounted })
    }
}

record! {
    FrozenSession in "frozen_session" { session_id, error as FrozenError, entry: json, frozen_at }
}

impl Part for FrozenError {
    const COLUMNS: &'static str = "error_code, error_message";
    const COUNT: usize = 2;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        Ok(Self { code: cells.of(table, "error_code")?, message: cells.of(table, "error_message")? })
    }

    fn bind(&self, to: &mut Binder<'_>) {
        to.bind(&self.code).bind(&self.message);
    }
}

pub(super) const FIND: Sql =
    sql_list!(concat!("SELECT ", COLUMNS, " FROM session WHERE id "), "$1", " ORDER BY id");

/// Rows are locked in ascending id order.
pub(super) const FIND_FOR_UPDATE: Sql =
    sql_list!(concat!("SELECT ", COLUMNS, " FROM session WHERE id "), "$1", " ORDER BY id", locking);

/// Fewer rows change than were given when one is there already.
static INSERT: RowsSql = RowsSql::new(
    "INSERT INTO session (id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at,
                          last_interaction_at, wake_at, began_at) VALUES ",
    12,
    " ON CONFLICT (id) DO NOTHING",
);

/// Compare-and-set: fewer rows change than were given when one has another version or is gone. An upsert
/// would bring back a session that ended, and let one that was begun twice run over the first.
static UPDATE: RowsSql = RowsSql::typed(
    "WITH new (id, expected, version, epoch, chat_id, mode, state, started_at, last_interaction_at, wake_at)
     AS (VALUES ",
    &["text", "bigint", "bigint", "bigint", "text", "text", "jsonb", "bigint", "bigint", "bigint"],
    ") UPDATE session SET
        version = new.version, epoch = new.epoch, chat_id = new.chat_id, mode = new.mode, state = new.state,
        started_at = new.started_at, last_interaction_at = new.last_interaction_at, wake_at = new.wake_at
     FROM new WHERE session.id = new.id AND session.version = new.expected",
)
.or_one_by_one(
    "UPDATE session SET
        version = ?3, epoch = ?4, chat_id = ?5, mode = ?6, state = ?7,
        started_at = ?8, last_interaction_at = ?9, wake_at = ?10
     WHERE id = ?1 AND version = ?2",
);

/// Behind those that stand there. The row of the session is locked by it, so that a turn sees all or none.
const PUT_AHEAD: Sql = sql_per(
    "UPDATE session SET ahead = json_insert(COALESCE(ahead, '[]'), '$[#]', json($2))
     WHERE id = $1 AND json_array_length(COALESCE(ahead, '[]')) < $3",
    "UPDATE session SET ahead = COALESCE(ahead, '[]'::jsonb) || jsonb_build_array($2::jsonb)
     WHERE id = $1 AND jsonb_array_length(COALESCE(ahead, '[]'::jsonb)) < $3",
);

const CLEAR_AHEAD: Sql = sql_list!("UPDATE session SET ahead = NULL WHERE id ", "$1", "");

const DELETE: Sql = sql_list!("DELETE FROM session WHERE id ", "$1", "");

const DUE: Sql = sql("SELECT wake_at, id FROM session WHERE (wake_at, id) > ($1, $2) AND wake_at <= $3
     AND NOT EXISTS (SELECT 1 FROM frozen_session WHERE frozen_session.session_id = session.id)
     ORDER BY wake_at, id LIMIT $4");

const MODE: Sql = sql("SELECT mode FROM session WHERE id = $1");

const STANDSTILL: Sql = sql("SELECT EXISTS (SELECT 1 FROM frozen_session WHERE session_id = $1),
        EXISTS (SELECT 1 FROM session WHERE id = $1 AND state->'pending' IS NOT NULL)");

/// Its router is that of the session, or, where it could not even begin, that of its channel.
static FREEZE: RowsSql = RowsSql::typed(
    "WITH new (session_id, error_code, error_message, entry, frozen_at, channel) AS (VALUES ",
    &["text", "text", "text", "jsonb", "bigint", "text"],
    ") INSERT INTO frozen_session (session_id, error_code, error_message, entry, frozen_at, router_id)
     SELECT session_id, error_code, error_message, entry, frozen_at,
        COALESCE((SELECT session.router_id FROM session WHERE session.id = new.session_id),
                 (SELECT channel.router_id FROM channel WHERE channel.id = new.channel))
     FROM new WHERE true ON CONFLICT (session_id) DO NOTHING",
);

/// Locked, so that nothing is kept for a session that is just being thawed.
const FROZEN_AMONG: Sql =
    sql_list!("SELECT session_id FROM frozen_session WHERE session_id ", "$1", "", locking);

/// In the order given, as many of a session as leave no more than `most`.
static KEEP: RowsSql = RowsSql::typed(
    "WITH new (at, session_id, entry, most) AS (VALUES ",
    &["bigint", "text", "jsonb", "bigint"],
    ") INSERT INTO kept_entry (session_id, entry) SELECT session_id, entry FROM new
     WHERE (SELECT COUNT(*) FROM kept_entry WHERE kept_entry.session_id = new.session_id)
         + (SELECT COUNT(*) FROM new AS before WHERE before.session_id = new.session_id AND before.at < new.at)
         < most ORDER BY at",
);

/// In the order given, without an entry read again for want of an acknowledgement: it froze its session,
/// or is kept already.
static KEEP_BEHIND: RowsSql = RowsSql::typed(
    "WITH new (at, session_id, entry) AS (VALUES ",
    &["bigint", "text", "jsonb"],
    ") INSERT INTO kept_entry (session_id, entry) SELECT session_id, entry FROM new
     WHERE NOT EXISTS (SELECT 1 FROM frozen_session
                       WHERE frozen_session.session_id = new.session_id AND frozen_session.entry = new.entry)
     AND NOT EXISTS (SELECT 1 FROM kept_entry
                     WHERE kept_entry.session_id = new.session_id AND kept_entry.entry = new.entry)
     ORDER BY at",
);

const TAKE_FROZEN: Sql =
    sql(concat!("DELETE FROM frozen_session WHERE session_id = $1 RETURNING ", FrozenSession::COLUMNS));

const TAKE_KEPT: Sql = sql("DELETE FROM kept_entry
     WHERE seq = (SELECT MIN(seq) FROM kept_entry WHERE session_id = $1) RETURNING entry");

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, PUT_AHEAD, CLEAR_AHEAD, DELETE, DUE, MODE, STANDSTILL, FROZEN_AMONG, TAKE_FROZEN, TAKE_KEPT; INSERT, UPDATE, FREEZE, KEEP, KEEP_BEHIND
}

super::accessor::has!(HasSessions::sessions -> SessionRepository);

#[async_trait]
impl SessionRepository for SqlTx {
    async fn find_many(&mut self, ids: &[SessionId]) -> Result<Vec<StoredSession>, StorageError> {
        let rows = self.conn.fetch_all(FIND, (Json(ids),)).await?;
        self.conn.counted(rows).await
    }

    async fn find_many_for_update(&mut self, ids: &[SessionId]) -> Result<Vec<StoredSession>, StorageError> {
        let rows = self.conn.fetch_all(FIND_FOR_UPDATE, (Json(ids),)).await?;
        self.conn.counted(rows).await
    }

    async fn save_many(&mut self, sessions: &[SessionWrite<'_>]) -> Result<(), StorageError> {
        let new: Vec<&Session> =
            sessions.iter().filter(|write| write.expected.is_none()).map(|write| write.session).collect();
        let read: Vec<(&Session, i64)> =
            sessions.iter().filter_map(|write| Some((write.session, write.expected?))).collect();
        let bind_new = |to: &mut Binder<'_>, session: &&Session| {
            to.bind(&session.id)
                .bind(session.version)
                .bind(session.epoch)
                .bind(&session.router_id)
                .bind(&session.contact_id)
                .bind(&session.chat_id)
                .bind(&session.mode)
                .bind(Json(StateRef::from(*session)))
                .bind(session.started_at)
                .bind(session.last_interaction_at)
                .bind(session.wake_at)
                .bind(session.started_at);
        };
        let bind_read = |to: &mut Binder<'_>, (session, expected): &(&Session, i64)| {
            to.bind(&session.id)
                .bind(*expected)
                .bind(session.version)
                .bind(session.epoch)
                .bind(&session.chat_id)
                .bind(&session.mode)
                .bind(Json(StateRef::from(*session)))
                .bind(session.started_at)
                .bind(session.last_interaction_at)
                .bind(session.wake_at);
        };
        let inserted = self.conn.execute_rows(&INSERT, &new, bind_new).await?;
        let updated = self.conn.execute_rows(&UPDATE, &read, bind_read).await?;
        if inserted + updated != sessions.len() as u64 {
            return Err(StorageError::Stale { entity: "session" });
        }
        self.conn.archive(sessions.iter().map(|write| write.session)).await
    }

    async fn put_ahead(&mut self, event: &FlowEvent) -> Result<bool, StorageError> {
        let binds = (event.session_id(), Json(event), i64::from(MAX_AHEAD));
        Ok(self.conn.execute(PUT_AHEAD, binds).await? == 1)
    }

    async fn clear_ahead(&mut self, ids: &[SessionId]) -> Result<(), StorageError> {
        self.conn.execute(CLEAR_AHEAD, (Json(ids),)).await.map(drop)
    }

    async fn delete_many(&mut self, ids: &[&SessionId]) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (Json(ids),)).await.map(drop)
    }

    async fn due(
        &mut self,
        from: Timestamp,
        behind: Option<&SessionId>,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Timestamp, SessionId)>, StorageError> {
        let behind = behind.map(SessionId::to_string).unwrap_or_default();
        self.conn.fetch_all(DUE, (from, &*behind, until, i64::from(limit))).await
    }

    async fn mode(&mut self, session: &SessionId) -> Result<Option<Mode>, StorageError> {
        let row = self.conn.fetch_optional::<(Mode,)>(MODE, (session,)).await?;
        Ok(row.map(|(mode,)| mode))
    }

    async fn standstill(&mut self, session: &SessionId) -> Result<Option<Standstill>, StorageError> {
        let row = self.conn.fetch_optional::<(bool, bool)>(STANDSTILL, (session,)).await?;
        let (frozen, waits) = row.unwrap_or_default();
        let outside = waits.then_some(Standstill::Outside);
        Ok(if frozen { Some(Standstill::Frozen) } else { outside })
    }

    async fn freeze_many(&mut self, frozen: &[FrozenSession]) -> Result<(), StorageError> {
        let ids: Vec<SessionId> = frozen.iter().map(|frozen| frozen.session_id.clone()).collect();
        let mut known: HashSet<SessionId> = self.frozen_among(&ids).await?.into_iter().collect();
        let (mut first, mut behind) = (Vec::with_capacity(frozen.len()), Vec::new());
        for (at, frozen) in (0_i64..).zip(frozen) {
            if known.insert(frozen.session_id.clone()) {
                first.push(frozen);
            } else {
                behind.push((at, frozen));
            }
        }
        let bind_first = |to: &mut Binder<'_>, frozen: &&FrozenSession| {
            frozen.bind(to);
            to.bind(frozen.session_id.phone_number_id());
        };
        let changed = self.conn.execute_rows(&FREEZE, &first, bind_first).await?;
        if changed != first.len() as u64 {
            // Another process froze one of them after they were looked for; now it would be seen.
            return Err(StorageError::Stale { entity: "frozen_session" });
        }
        let bind_behind = |to: &mut Binder<'_>, (at, frozen): &(i64, &FrozenSession)| {
            to.bind(*at).bind(&frozen.session_id).bind(Json(&frozen.entry));
        };
        self.conn.execute_rows(&KEEP_BEHIND, &behind, bind_behind).await.map(drop)
    }

    async fn frozen_among(&mut self, ids: &[SessionId]) -> Result<Vec<SessionId>, StorageError> {
        self.conn.fetch_column(FROZEN_AMONG, (Json(ids),)).await
    }

    async fn keep_entries(&mut self, entries: &[(SessionId, Value)], most: u32) -> Result<u64, StorageError> {
        let numbered: Vec<(i64, &(SessionId, Value))> = (0..).zip(entries).collect();
        let bind = |to: &mut Binder<'_>, (at, (session, entry)): &(i64, &(SessionId, Value))| {
            to.bind(*at).bind(session).bind(Json(entry)).bind(i64::from(most));
        };
        let kept = self.conn.execute_rows(&KEEP, &numbered, bind).await?;
        Ok((entries.len() as u64).saturating_sub(kept))
    }

    async fn take_frozen(&mut self, session: &SessionId) -> Result<Option<FrozenSession>, StorageError> {
        self.conn.fetch_optional(TAKE_FROZEN, (session,)).await
    }

    async fn take_kept(&mut self, session: &SessionId) -> Result<Option<Value>, StorageError> {
        let row = self.conn.fetch_optional::<(Json<Value>,)>(TAKE_KEPT, (session,)).await?;
        Ok(row.map(|(Json(entry),)| entry))
    }
}
