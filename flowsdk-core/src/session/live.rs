//! The sessions that depend on something, for those who want to delete it (rulings S13).

use async_trait::async_trait;

use super::SessionId;
use crate::fault::StorageError;
use crate::id::{AgentId, ChannelId, FlowId, RouterId};
use crate::in_use::Dependants;

/// The entity on which sessions depend.
#[derive(Debug, Clone, Copy)]
pub enum SessionsOf<'a> {
    /// A router, with the sessions of all its flows.
    Router(&'a RouterId),
    /// The flow that they stand in or come back to; of this router.
    Flow(&'a RouterId, &'a FlowId),
    /// A webchat channel, with the sessions of its visitors.
    WebchatChannel(&'a ChannelId),
    /// A number of the phone channel, by the provider's id.
    PhoneNumber(&'a str),
}

/// Sessions by the entity on which they depend, in one transaction.
#[async_trait]
pub trait LiveSessions: Send {
    /// Returns how many there are, with those that froze before they began.
    async fn count(&mut self, of: SessionsOf<'_>) -> Result<i64, StorageError>;

    /// Returns how many sessions of a router an AI agent has, or gets back from another one.
    async fn count_of_agent(&mut self, router: &RouterId, agent: &AgentId) -> Result<i64, StorageError>;

    /// Ends them, frozen ones too, whether they began or not, with everything that was kept for them; which ones. Their chats stay.
    async fn end(&mut self, of: SessionsOf<'_>) -> Result<Vec<SessionId>, StorageError>;
}

impl dyn LiveSessions + '_ {
    /// Prepares a deletion: with `force` the sessions end, and without it they prevent the deletion.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn make_way(&mut self, of: SessionsOf<'_>, force: bool) -> Result<Dependants, StorageError> {
        let mut dependants = Dependants::default();
        if force {
            self.end(of).await?;
        } else {
            dependants.sessions(self.count(of).await?);
        }
        Ok(dependants)
    }
}

/// A transaction with the sessions that depend on another record.
pub trait HasLiveSessions: Send {
    /// Returns the repository of this transaction.
    fn live_sessions(&mut self) -> &mut dyn LiveSessions;
}
