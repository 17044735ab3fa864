//! Storage of saved filters.

use async_trait::async_trait;

use super::{SavedFilter, SavedFilterId};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::{Page, PageRequest};

/// Saved filters of one transaction. They are deleted with their router.
#[async_trait]
pub trait SavedFilterRepository: Send {
    /// Returns a page of filters, newest first: those of `router`, if it is given, and of the routers in `only`, if
    /// they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<SavedFilter>, StorageError>;

    /// Returns a filter.
    async fn find(&mut self, id: &SavedFilterId) -> Result<Option<SavedFilter>, StorageError>;

    /// Returns a filter, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &SavedFilterId) -> Result<Option<SavedFilter>, StorageError>;

    /// Creates a filter.
    async fn insert(&mut self, filter: &SavedFilter) -> Result<(), StorageError>;

    /// Rewrites a filter.
    async fn save(&mut self, filter: &SavedFilter) -> Result<(), StorageError>;

    /// Deletes a filter.
    async fn delete(&mut self, id: &SavedFilterId) -> Result<(), StorageError>;
}

/// A transaction with saved filters.
pub trait HasSavedFilters: Send {
    /// Returns the repository of this transaction.
    fn saved_filters(&mut self) -> &mut dyn SavedFilterRepository;
}
