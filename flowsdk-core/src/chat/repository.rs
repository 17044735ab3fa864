//! Storage of chats.

use async_trait::async_trait;

use super::Chat;
use crate::fault::StorageError;
use crate::id::ChatId;

/// Chats of one transaction.
#[async_trait]
pub trait ChatRepository: Send {
    /// Opens these chats, except where the contact and router have an open one already; returns the open
    /// chat of each pair, in the order given.
    async fn open_or_get_many(&mut self, chats: &[Chat]) -> Result<Vec<Chat>, StorageError>;

    /// Closes chats; closed ones stay as they are.
    async fn close_many(&mut self, ids: &[ChatId]) -> Result<(), StorageError>;
}

/// A transaction with chats.
pub trait HasChats: Send {
    /// Returns the repository of this transaction.
    fn chats(&mut self) -> &mut dyn ChatRepository;
}
