//! Storage of records.

use async_trait::async_trait;

use super::RouterRecord;
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::{Page, PageRequest};

/// Records of one kind in one transaction.
#[async_trait]
pub trait RecordRepository<R: RouterRecord>: Send {
    /// Returns a page of the records that pass the filter, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &R::Filter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<R>, StorageError>;

    /// Returns a record.
    async fn find(&mut self, id: &R::Id) -> Result<Option<R>, StorageError>;

    /// Returns a record, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &R::Id) -> Result<Option<R>, StorageError>;

    /// Creates a record.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when another record has its name or the like, [`StorageError::Orphan`] when a row that it
    /// refers to is gone. The transaction cannot go on after either.
    async fn insert(&mut self, record: &R) -> Result<(), StorageError>;

    /// Rewrites the columns of a record that may change.
    ///
    /// # Errors
    /// As [`Self::insert`].
    async fn save(&mut self, record: &R) -> Result<(), StorageError>;

    /// Deletes a record.
    async fn delete(&mut self, id: &R::Id) -> Result<(), StorageError>;
}

/// A transaction with records of one kind.
pub trait HasRecords<R: RouterRecord>: Send {
    /// Returns the repository of this transaction.
    fn records(&mut self) -> &mut dyn RecordRepository<R>;
}
