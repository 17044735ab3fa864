//! Storage of saved filters.

use async_trait::async_trait;

use super::{ContactFilterId, SavedContactFilter};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::{Page, PageRequest};

/// Saved filters of one transaction. They are deleted with their router.
#[async_trait]
pub trait ContactFilterRepository: Send {
    /// Returns a page of filters, newest first: those of `router`, if it is given, and of the routers in `only`, if
    /// they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<SavedContactFilter>, StorageError>;

    /// Returns a filter.
    async fn find(&mut self, id: &ContactFilterId) -> Result<Option<SavedContactFilter>, StorageError>;

    /// Returns a filter, locked until the end of the transaction.
    async fn find_for_update(
        &mut self,
        id: &ContactFilterId,
    ) -> Result<Option<SavedContactFilter>, StorageError>;

    /// Creates a filter.
    async fn insert(&mut self, filter: &SavedContactFilter) -> Result<(), StorageError>;

    /// Rewrites a filter.
    async fn save(&mut self, filter: &SavedContactFilter) -> Result<(), StorageError>;

    /// Deletes a filter.
    async fn delete(&mut self, id: &ContactFilterId) -> Result<(), StorageError>;
}

/// A transaction with saved filters.
pub trait HasContactFilters: Send {
    /// Returns the repository of this transaction.
    fn contact_filters(&mut self) -> &mut dyn ContactFilterRepository;
}
