//! Storage of numbers.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelNumberId, RouterId};
use flowsdk_core::page::{Page, PageRequest};

use super::ChannelNumber;

/// Numbers of one transaction.
#[async_trait]
pub trait ChannelNumberRepository: Send {
    /// A page of numbers, newest first: of `router`, if it is given, and of the routers in `only`, if they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ChannelNumber>, StorageError>;

    /// Finds a number by its id.
    async fn find(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError>;

    /// A number, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &ChannelNumberId) -> Result<Option<ChannelNumber>, StorageError>;

    /// Creates a number, unless one has its id at the provider; whether it did.
    async fn insert_if_absent(&mut self, number: &ChannelNumber) -> Result<bool, StorageError>;

    /// Rewrites a number; its router and its id at the provider stay.
    async fn save(&mut self, number: &ChannelNumber) -> Result<(), StorageError>;

    /// Deletes a number with its keys.
    async fn delete(&mut self, id: &ChannelNumberId) -> Result<(), StorageError>;
}

/// A transaction with numbers of the phone channel.
pub trait HasChannelNumbers: Send {
    /// Returns the repository of this transaction.
    fn channel_numbers(&mut self) -> &mut dyn ChannelNumberRepository;
}
