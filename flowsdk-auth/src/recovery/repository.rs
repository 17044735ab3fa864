//! Storage of recoveries.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;

use super::PasswordRecovery;

/// Recoveries of one transaction.
#[async_trait]
pub trait PasswordRecoveryRepository: Send {
    /// Creates a recovery with its hashed code.
    async fn insert(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError>;

    /// Returns the user's newest recovery that is neither completed nor, at `now`, expired; locked until the
    /// transaction ends, so that tries are counted one by one.
    async fn latest_for_update(
        &mut self,
        user: &UserId,
        now: Timestamp,
    ) -> Result<Option<PasswordRecovery>, StorageError>;

    /// Writes `completed` and `wrong_tries`.
    async fn save(&mut self, recovery: &PasswordRecovery) -> Result<(), StorageError>;

    /// Completes every open recovery of the user.
    async fn complete_all(&mut self, user: &UserId) -> Result<(), StorageError>;

    /// Deletes the recoveries that expired before `cutoff`.
    async fn purge(&mut self, cutoff: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with password recoveries.
pub trait HasPasswordRecoveries: Send {
    /// Returns the repository of this transaction.
    fn password_recoveries(&mut self) -> &mut dyn PasswordRecoveryRepository;
}
