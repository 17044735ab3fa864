//! Storage of the web chat.

use async_trait::async_trait;
use flowsdk_core::chat::ChatStatus;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChannelId, ChatId, ContactId, IdentityId};

use super::{WebchatChannel, WebchatIdentity};

/// Channels and identities of one transaction.
#[async_trait]
pub trait WebchatRepository: Send {
    /// Finds a channel by its id.
    async fn find_channel(&mut self, id: &ChannelId) -> Result<Option<WebchatChannel>, StorageError>;

    /// Returns the embed secrets of those of the channels that exist.
    async fn embed_secrets(
        &mut self,
        channels: &[ChannelId],
    ) -> Result<Vec<(ChannelId, Option<Encrypted>)>, StorageError>;

    /// Creates a channel of a router.
    async fn insert_channel(&mut self, channel: &WebchatChannel) -> Result<(), StorageError>;

    /// The identity of a visitor on a channel, by the identity of its contact (`phoneNumber`).
    async fn find_identity(
        &mut self,
        channel: &ChannelId,
        contact_identity: &str,
    ) -> Result<Option<WebchatIdentity>, StorageError>;

    /// Creates an identity with its hashed key.
    async fn insert_identity(&mut self, identity: &WebchatIdentity) -> Result<(), StorageError>;

    /// Stores the digest of the key of an identity that has none.
    async fn note_key_digest(&mut self, identity: &IdentityId, digest: &str) -> Result<(), StorageError>;

    /// The chat that a contact has with the channel's router: the open one, else the newest.
    async fn find_chat(
        &mut self,
        channel: &ChannelId,
        contact: &ContactId,
    ) -> Result<Option<(ChatId, ChatStatus)>, StorageError>;
}

/// A transaction with web chat channels and the identities of their visitors.
pub trait HasWebchat: Send {
    /// Returns the repository of this transaction.
    fn webchat(&mut self) -> &mut dyn WebchatRepository;
}
