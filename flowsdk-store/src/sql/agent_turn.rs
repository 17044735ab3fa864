//! The turns of AI agents.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::ledger::{AgentTurn, AgentTurnRepository, HasAgentTurns};
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql};

record! {
    AgentTurn in "agent_turn" {
        id, router_id, session_id, chat_id, agent_id, epoch, activation, number, began_at;
        step, is_running, items: json, answered, course: json, began_call, answers: json, end_reason, error, ended_at
    }
}

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

super::statement::statements! { INSERT, SAVE, RUNNING, SESSIONS_RUNNING, OF_ACTIVATION, FORGET }

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
}
