//! Storage of those who may dispatch, and of those who get the replies.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};

/// Agents of one transaction, as dispatch needs them.
#[async_trait]
pub trait DispatchAgentRepository: Send {
    /// Returns whether a user may write to contacts first in a router (`canActiveDispatch`); `None`, where they are no
    /// agent of it.
    async fn can_dispatch(&mut self, router: &RouterId, user: &UserId) -> Result<Option<bool>, StorageError>;

    /// Returns whether a router has this queue, and it is active.
    async fn is_active_queue(&mut self, router: &RouterId, queue: &QueueId) -> Result<bool, StorageError>;
}

/// A transaction with agents.
pub trait HasDispatchAgents: Send {
    /// Returns the repository of this transaction.
    fn dispatch_agents(&mut self) -> &mut dyn DispatchAgentRepository;
}
