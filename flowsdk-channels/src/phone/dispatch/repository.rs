//! Storage of those who may dispatch.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};

/// Agents of one transaction, as dispatch needs them.
#[async_trait]
pub trait DispatchAgentRepository: Send {
    /// Returns whether a user may write to contacts first in a router (`canActiveDispatch`); `None`, where they are no
    /// agent of it.
    async fn can_dispatch(&mut self, router: &RouterId, user: &UserId) -> Result<Option<bool>, StorageError>;
}

/// A transaction with agents.
pub trait HasDispatchAgents: Send {
    /// Returns the repository of this transaction.
    fn dispatch_agents(&mut self) -> &mut dyn DispatchAgentRepository;
}
