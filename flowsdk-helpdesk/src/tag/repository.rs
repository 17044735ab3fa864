//! Storage of tags, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::TagId;

/// Tags of one transaction.
#[async_trait]
pub trait TagRepository: Send {
    /// Returns those of these ids that are tags of the router.
    async fn among(&mut self, router: &RouterId, ids: &[TagId]) -> Result<Vec<TagId>, StorageError>;

    /// Takes a tag off every ticket of the router.
    async fn take_off(&mut self, router: &RouterId, tag: &TagId) -> Result<(), StorageError>;
}

/// A transaction with tags.
pub trait HasTags: Send {
    /// Returns the repository of this transaction.
    fn tags(&mut self) -> &mut dyn TagRepository;
}
