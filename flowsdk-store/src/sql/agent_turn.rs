//! The turns of AI agents.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::ledger::{
    AgentTurn, AgentTurnFilter, AgentTurnId, AgentTurnRepository, HasAgentTurns, TurnDigest,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked, asked_if};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql};

record! {
    AgentTurn in "agent_turn" {
        id, router_id, session_id, chat_id, agent_id, epoch, activation, number, began_at;
        step, is_running, items: json, answered, course: json, began_call, answers: json, end_reason, error, ended_at
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

const INSERT: Sql = sql(AgentTurn::INSERT);

/// `$2` is the new step.
const SAVE: Sql = sql(concat!(AgentTurn::UPDATE, " AND step = $2 - 1"));

pub(super) const RUNNING: Sql = sql(concat!(AgentTurn::SELECT, " WHERE session_id = $1 AND is_running = 1"));

pub(super) const SESSIONS_RUNNING: Sql =
    sql("SELECT session_id FROM agent_turn WHERE is_running = 1 ORDER BY id LIMIT $1");

pub(super) const OF_ACTIVATION: Sql = sql(concat!(
    AgentTurn::SELECT,
    " WHERE session_id = $1 AND epoch = $2 AND activation = $3 ORDER BY number DESC LIMIT $4"
));

const FORGET: Sql = sql("DELETE FROM agent_turn WHERE id IN (
        SELECT id FROM agent_turn WHERE began_at < $1 AND is_running = 0 ORDER BY began_at, id LIMIT $2)");

super::statement::statements! { FIND, INSERT, SAVE, RUNNING, SESSIONS_RUNNING, OF_ACTIVATION, FORGET; LIST }

super::accessor::has!(HasAgentTurns::agent_turns -> AgentTurnRepository);

#[async_trait]
impl AgentTurnRepository for SqlTx {
    async fn insert(&mut self, turn: &AgentTurn) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(turn)).await.map(drop)
    }

    async fn save(&mut self, turn: &AgentTurn) -> Result<(), StorageError> {
        match self.conn.execute(SAVE, Changes(turn)).await? {
            0 => Err(StorageError::Stale { entity: "turn" }),
            _ => Ok(()),
        }
    }

    async fn running(&mut self, session: &SessionId) -> Result<Option<AgentTurn>, StorageError> {
        self.conn.fetch_optional(RUNNING, (session,)).await
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
