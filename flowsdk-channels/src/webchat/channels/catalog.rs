//! Storage of channels, as they are administered.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, RouterId};
use flowsdk_core::page::{Page, PageRequest};

use crate::webchat::WebchatChannel;

/// Channels of one transaction.
#[async_trait]
pub trait WebchatCatalog: Send {
    /// A page of channels, newest first: of `router`, if it is given, and of the routers in `only`, if they are.
    async fn list_channels(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<WebchatChannel>, StorageError>;

    /// A channel, locked until the end of the transaction.
    async fn find_channel_for_update(
        &mut self,
        id: &ChannelId,
    ) -> Result<Option<WebchatChannel>, StorageError>;

    /// Creates the router's own test channel, unless there is one. Returns the one that there is then, locked.
    async fn test_channel_or_insert(
        &mut self,
        channel: &WebchatChannel,
    ) -> Result<WebchatChannel, StorageError>;

    /// Rewrites a channel; its router and its purpose stay.
    async fn save_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError>;

    /// Deletes a channel with the identities of its visitors. Their contacts and chats stay.
    async fn delete_channel(&mut self, id: &ChannelId) -> Result<(), StorageError>;
}

/// A transaction with the administration of web chat channels.
pub trait HasWebchatCatalog: Send {
    /// Returns the repository of this transaction.
    fn webchat_catalog(&mut self) -> &mut dyn WebchatCatalog;
}
