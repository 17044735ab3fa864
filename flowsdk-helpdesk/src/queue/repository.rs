//! Storage of queues, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;

use super::Queue;
use crate::agent::{DeskAgent, DeskAgentId};

/// Queues of one transaction.
#[async_trait]
pub trait QueueRepository: Send {
    /// Returns the active queues of these routers, the oldest first.
    async fn active_of(&mut self, routers: &[RouterId]) -> Result<Vec<Queue>, StorageError>;

    /// Returns those of these queues that exist.
    async fn find_many(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError>;

    /// Returns those of these queues that give their tickets to agents, locked, in the order of their ids.
    async fn lock_to_distribute(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError>;

    /// Returns the agents of a queue, in the order of their ids.
    async fn agents(&mut self, queue: &QueueId) -> Result<Vec<DeskAgent>, StorageError>;

    /// Adds an agent; one who is there already stays.
    ///
    /// # Errors
    /// [`StorageError::Orphan`] when queue or agent is gone.
    async fn add_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<(), StorageError>;

    /// Takes an agent out; returns whether they were in it.
    async fn remove_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<bool, StorageError>;

    /// Returns who was given the last ticket of each of these queues by turns; nothing of queues that gave none.
    async fn last_given(&mut self, queues: &[QueueId]) -> Result<Vec<(QueueId, UserId)>, StorageError>;

    /// Notes who was given the last ticket of each queue by turns.
    async fn note_given(&mut self, given: &[(QueueId, UserId)]) -> Result<(), StorageError>;

    /// Returns how many agents of each of these queues are `online` or `busy` at `now` and may serve contacts; nothing of
    /// queues without any.
    async fn present_in(
        &mut self,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Vec<(QueueId, i64)>, StorageError>;

    /// Returns the queues that each of these users works in, with their routers, in the order of their ids.
    async fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, RouterId, QueueId)>, StorageError>;

    /// Returns the queues that a user works in, of these routers or of all.
    async fn of_user(&mut self, user: &UserId, only: Option<&[RouterId]>)
    -> Result<Vec<Queue>, StorageError>;
}

/// A transaction with queues.
pub trait HasQueues: Send {
    /// Returns the repository of this transaction.
    fn queues(&mut self) -> &mut dyn QueueRepository;
}
