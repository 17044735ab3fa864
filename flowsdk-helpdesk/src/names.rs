//! The names of what tickets refer to, many at once.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, QueueId, UserId};

use crate::tag::TagId;

/// Names, in one transaction.
#[async_trait]
pub trait NameRepository: Send {
    /// Returns the names of those of these queues that there are.
    async fn queues(&mut self, ids: &[QueueId]) -> Result<Vec<(QueueId, String)>, StorageError>;

    /// Returns the names of those of these users that there are.
    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<(UserId, String)>, StorageError>;

    /// Returns the names of those of these contacts that there are.
    async fn contacts(&mut self, ids: &[ContactId]) -> Result<Vec<(ContactId, String)>, StorageError>;

    /// Returns the names of those of these tags that there are.
    async fn tags(&mut self, ids: &[TagId]) -> Result<Vec<(TagId, String)>, StorageError>;
}

/// A transaction with names.
pub trait HasNames: Send {
    /// Returns the repository of this transaction.
    fn names(&mut self) -> &mut dyn NameRepository;
}
