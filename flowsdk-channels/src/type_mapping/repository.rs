//! Storage of channel type mappings.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};

use super::{ChannelTypeMapping, ChannelTypeMappingId};

/// Channel type mappings of one transaction. They are deleted with their router.
#[async_trait]
pub trait ChannelTypeMappingRepository: Send {
    /// Returns a page of mappings, newest first: those of `router`, if it is given, and of the routers in `only`, if
    /// they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ChannelTypeMapping>, StorageError>;

    /// Returns a mapping.
    async fn find(&mut self, id: &ChannelTypeMappingId) -> Result<Option<ChannelTypeMapping>, StorageError>;

    /// Returns a mapping, locked until the end of the transaction.
    async fn find_for_update(
        &mut self,
        id: &ChannelTypeMappingId,
    ) -> Result<Option<ChannelTypeMapping>, StorageError>;

    /// Creates a mapping, unless its router has one of its channel; returns whether it did.
    async fn insert_if_absent(&mut self, mapping: &ChannelTypeMapping) -> Result<bool, StorageError>;

    /// Rewrites the names of a mapping.
    async fn save(&mut self, mapping: &ChannelTypeMapping) -> Result<(), StorageError>;

    /// Deletes a mapping.
    async fn delete(&mut self, id: &ChannelTypeMappingId) -> Result<(), StorageError>;
}

/// A transaction with channel type mappings.
pub trait HasChannelTypeMappings: Send {
    /// Returns the repository of this transaction.
    fn channel_type_mappings(&mut self) -> &mut dyn ChannelTypeMappingRepository;
}
