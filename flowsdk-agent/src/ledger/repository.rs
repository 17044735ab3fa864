//! Storage of turns.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::{AgentTurn, AgentTurnFilter, AgentTurnId, PastTurn, TurnDigest};

/// Turns of one transaction.
#[async_trait]
pub trait AgentTurnRepository: Send {
    /// Creates turns.
    async fn insert_many(&mut self, turns: &[AgentTurn]) -> Result<(), StorageError>;

    /// Rewrites turns, whose [`AgentTurn::step`] is one more than the one that is stored.
    ///
    /// # Errors
    /// [`StorageError::Stale`] when another writer was first with any of them; nothing of the transaction is then to be
    /// committed.
    async fn save_many(&mut self, turns: &[&AgentTurn]) -> Result<(), StorageError>;

    /// Returns the turns of sessions that run, one a session.
    async fn running(&mut self, sessions: &[SessionId]) -> Result<Vec<AgentTurn>, StorageError>;

    /// Returns the sessions with a turn that runs, `limit` at most, those with the oldest first.
    async fn sessions_running(&mut self, limit: u32) -> Result<Vec<SessionId>, StorageError>;

    /// Deletes up to `limit` turns that have ended and began before `before`; returns their number.
    async fn forget(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError>;

    /// Returns the turns of a session's epoch and activation, oldest first, at most the `limit` newest.
    async fn of_activation(
        &mut self,
        session: &SessionId,
        epoch: i64,
        activation: u32,
        limit: u32,
    ) -> Result<Vec<AgentTurn>, StorageError>;

    /// Returns what was said before turns: in those of the same session, epoch and activation, up to `limit` numbers before
    /// them, oldest first.
    async fn past(&mut self, turns: &[&AgentTurn], limit: u32) -> Result<Vec<PastTurn>, StorageError>;

    /// Returns a turn.
    async fn find(&mut self, id: &AgentTurnId) -> Result<Option<AgentTurn>, StorageError>;

    /// Returns a page of the turns that pass the filter, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &AgentTurnFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<TurnDigest>, StorageError>;
}

/// A transaction with turns.
pub trait HasAgentTurns: Send {
    /// Returns the repository of this transaction.
    fn agent_turns(&mut self) -> &mut dyn AgentTurnRepository;
}
