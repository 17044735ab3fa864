//! Storage of presence.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};
use flowsdk_core::time::Timestamp;

use super::PresenceStatus;

/// What desks show of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Person {
    pub user_id: UserId,
    pub name: String,
    pub presence: PresenceStatus,
}

/// Presence of users, in one transaction.
#[async_trait]
pub trait PresenceRepository: Send {
    /// Sets the presence of a user until this moment, from which on they are offline.
    ///
    /// # Errors
    /// [`StorageError::Orphan`] when the user is gone.
    async fn set(
        &mut self,
        user: &UserId,
        status: PresenceStatus,
        until: Timestamp,
    ) -> Result<(), StorageError>;

    /// Lets a presence that holds at `now` hold until `until`, and returns it.
    async fn renew(
        &mut self,
        user: &UserId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<PresenceStatus>, StorageError>;

    /// Returns whether a user is of a group that is confined to routers, this one among them.
    async fn is_confined_to(&mut self, user: &UserId, router: &RouterId) -> Result<bool, StorageError>;

    /// Returns the users among these that exist, with their presence at `now`.
    async fn people(&mut self, users: &[UserId], now: Timestamp) -> Result<Vec<Person>, StorageError>;
}

/// A transaction with presence.
pub trait HasPresence: Send {
    /// Returns the repository of this transaction.
    fn presence(&mut self) -> &mut dyn PresenceRepository;
}
