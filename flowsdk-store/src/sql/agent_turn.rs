//! The turns of AI agents.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::ledger::{
    AgentTurn, AgentTurnFilter, AgentTurnId, AgentTurnRepository, HasAgentTurns, PastTurn, TurnDigest,
};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked, asked_if};
use super::record::{Record as _, record};
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    AgentTurn in "agent_turn" {
        id, router_id, session_id, chat_id, agent_id, epoch, activation, number, began_at;
        step, is_running, items: json, answered, course: json, began_call, answers: json, end_reason, error, ended_at
    }
}

record! {
    PastTurn in "agent_turn" {
        session_id, number, items: json, answered
    }
}

record! {
    TurnDigest in "agent_turn" {
        id, router_id, session_id, chat_id, agent_id, number, is_running, course: json, answers: json, end_reason,
        error, began_at, ended_at
    }
}

/// The filters with the fewest rows tell their index first. That of turns that go on looks at their end: an index that says
/// `is_running = 1` would be taken for the turn of a session, too.
pub(super) static LIST: ListSql<AgentTurnFilter> = ListSql::of::<TurnDigest>()
    .by("began_at", "id")
    .within("router_id")
    .replanned()
    .filters(&[
        Filter::of("session_id = {}", |filter: &AgentTurnFilter| asked(&filter.session_id))
            .indexed("agent_turn_of_session", "agent_turn_of_session"),
        Filter::of("chat_id = {}", |filter: &AgentTurnFilter| asked(&filter.chat_id))
            .indexed("agent_turn_by_chat", "agent_turn_by_chat"),
        Filter::of("ended_at IS NULL", |filter: &AgentTurnFilter| asked_if(filter.is_running == Some(true)))
            .indexed("agent_turn_unfinished", "agent_turn_unfinished"),
        Filter::of("ended_at IS NOT NULL", |filter: &AgentTurnFilter| {
            asked_if(filter.is_running == Some(false))
        }),
        Filter::of("error IS NOT NULL", |filter: &AgentTurnFilter| asked_if(filter.has_failed == Some(true)))
            .indexed("agent_turn_failed", "agent_turn_failed_of_router"),
        Filter::of("error IS NULL", |filter: &AgentTurnFilter| asked_if(filter.has_failed == Some(false))),
        Filter::of("agent_id = {}", |filter: &AgentTurnFilter| asked(&filter.agent_id))
            .indexed("agent_turn_by_agent", "agent_turn_by_agent"),
    ])
    .indexed("agent_turn_newest", "agent_turn_by_router");

const FIND: Sql = sql(AgentTurn::FIND);

static INSERT: RowsSql = RowsSql::insert::<AgentTurn>("");

/// A turn is saved with the step after the one that is stored.
static SAVE: RowsSql = RowsSql::typed(
    "WITH new (id, step, is_running, items, answered, course, began_call, answers, end_reason, error, ended_at)
     AS (VALUES ",
    &["text", "bigint", "bigint", "jsonb", "bigint", "jsonb", "text", "jsonb", "text", "text", "bigint"],
    ") UPDATE agent_turn SET
        step = new.step, is_running = new.is_running, items = new.items, answered = new.answered, course = new.course,
        began_call = new.began_call, answers = new.answers, end_reason = new.end_reason, error = new.error,
        ended_at = new.ended_at
     FROM new WHERE agent_turn.id = new.id AND agent_turn.step = new.step - 1",
)
.or_one_by_one(concat!(AgentTurn::UPDATE, " AND step = $2 - 1"));

pub(super) const RUNNING: Sql =
    sql_list!(concat!(AgentTurn::SELECT, " WHERE is_running = 1 AND session_id "), "$1", "");

pub(super) const SESSIONS_RUNNING: Sql =
    sql("SELECT session_id FROM agent_turn WHERE is_running = 1 ORDER BY session_id LIMIT $1");

pub(super) const OF_ACTIVATION: Sql = sql(concat!(
    AgentTurn::SELECT,
    " WHERE session_id = $1 AND epoch = $2 AND activation = $3 ORDER BY number DESC LIMIT $4"
));

/// `$1` lists `[session, epoch, activation, number]`.
pub(super) const PAST: Sql = sql_per(
    concat!(
        "SELECT ",
        PastTurn::COLUMNS,
        " FROM json_each($1) AS now CROSS JOIN agent_turn
         WHERE session_id = now.value ->> 0 AND epoch = now.value ->> 1 AND activation = now.value ->> 2
            AND number >= (now.value ->> 3) - $2 AND number < now.value ->> 3
         ORDER BY session_id, number"
    ),
    concat!(
        "SELECT ",
        PastTurn::COLUMNS,
        " FROM jsonb_array_elements($1) AS now (value) JOIN agent_turn
         ON session_id = now.value ->> 0 AND epoch = CAST(now.value ->> 1 AS bigint)
            AND activation = CAST(now.value ->> 2 AS bigint)
            AND number >= CAST(now.value ->> 3 AS bigint) - $2 AND number < CAST(now.value ->> 3 AS bigint)
         ORDER BY session_id, number"
    ),
);

const FORGET: Sql = sql("DELETE FROM agent_turn WHERE id IN (
        SELECT id FROM agent_turn WHERE began_at < $1 AND is_running = 0 ORDER BY began_at, id LIMIT $2)");

super::statement::statements! { FIND, RUNNING, SESSIONS_RUNNING, OF_ACTIVATION, PAST, FORGET; LIST, INSERT, SAVE }

super::accessor::has!(HasAgentTurns::agent_turns -> AgentTurnRepository);

#[async_trait]
impl AgentTurnRepository for SqlTx {
    async fn insert_many(&mut self, turns: &[AgentTurn]) -> Result<(), StorageError> {
        self.conn.insert_rows(&INSERT, turns).await.map(drop)
    }

    async fn save_many(&mut self, turns: &[&AgentTurn]) -> Result<(), StorageError> {
        let saved = self.conn.execute_rows(&SAVE, turns, |to, turn| turn.bind_changes(to)).await?;
        if saved == turns.len() as u64 { Ok(()) } else { Err(StorageError::Stale { entity: "turn" }) }
    }

    async fn running(&mut self, sessions: &[SessionId]) -> Result<Vec<AgentTurn>, StorageError> {
        self.conn.fetch_all(RUNNING, (Json(sessions),)).await
    }

    async fn sessions_running(&mut self, limit: u32) -> Result<Vec<SessionId>, StorageError> {
        self.conn.fetch_column(SESSIONS_RUNNING, (i64::from(limit),)).await
    }

    async fn forget(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(FORGET, (before, i64::from(limit))).await
    }

    async fn of_activation(
        &mut self,
        session: &SessionId,
        epoch: i64,
        activation: u32,
        limit: u32,
    ) -> Result<Vec<AgentTurn>, StorageError> {
        let binds = (session, epoch, i64::from(activation), i64::from(limit));
        let mut turns = self.conn.fetch_all::<AgentTurn>(OF_ACTIVATION, binds).await?;
        turns.reverse();
        Ok(turns)
    }

    async fn past(&mut self, turns: &[&AgentTurn], limit: u32) -> Result<Vec<PastTurn>, StorageError> {
        let wanted = turns.iter().map(|turn| (&turn.session_id, turn.epoch, turn.activation, turn.number));
        let wanted: Vec<_> = wanted.collect();
        self.conn.fetch_all(PAST, (Json(&wanted), i64::from(limit))).await
    }

    async fn find(&mut self, id: &AgentTurnId) -> Result<Option<AgentTurn>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn list(
        &mut self,
        filter: &AgentTurnFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<TurnDigest>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |turn: &TurnDigest| Cursor::of(turn.began_at, &turn.id);
        self.conn.page(&LIST, filter, routers, page, place).await
    }
}
