//! The ports.

use std::fmt::Debug;

use async_trait::async_trait;

use super::{DeadLetter, DeadLetterFilter, FailedEntry};
use crate::fault::StorageError;
use crate::id::DeadLetterId;
use crate::page::{Page, PageRequest};

/// A transaction that reaches dead letters.
pub trait HasDeadLetters: Send {
    /// Returns the repository of this transaction.
    fn dead_letters(&mut self) -> &mut dyn DeadLetterRepository;
}

/// Dead letters in storage.
#[async_trait]
pub trait DeadLetterRepository: Send {
    /// Records a failed entry under `id`, with the router of the session that its key names. An entry that is recorded
    /// already, by its source, keeps its first id; its attempts are added up.
    async fn record(&mut self, id: &DeadLetterId, entry: &FailedEntry) -> Result<(), StorageError>;

    /// Returns a page of dead letters, by the time of their last failure, newest first.
    async fn list(
        &mut self,
        filter: &DeadLetterFilter,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, StorageError>;

    /// Finds a dead letter.
    async fn find(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError>;

    /// Deletes a dead letter and returns it. Of several transactions that take the same one, one gets it.
    async fn take(&mut self, id: &DeadLetterId) -> Result<Option<DeadLetter>, StorageError>;
}

/// Where a consumer leaves the entries that failed for good.
#[async_trait]
pub trait DeadLetterSink: Send + Sync + Debug {
    /// Records a failed entry durably. Recording it twice, by its source, is recording it once.
    async fn record(&self, entry: &FailedEntry) -> Result<(), StorageError>;
}
