//! Storage of chats.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use super::Chat;
use crate::fault::StorageError;
use crate::id::{ChatId, MessageId};
use crate::time::Timestamp;

/// Chats of one transaction.
#[async_trait]
pub trait ChatRepository: Send {
    /// Opens these chats, except where the contact and router have an open one already; returns the open
    /// chat of each pair, in the order given.
    async fn open_or_get_many(&mut self, chats: &[Chat]) -> Result<Vec<Chat>, StorageError>;

    /// Notes at `now` that these chats are told that nobody answers. Returns those that were not told within `before`.
    async fn note_told(
        &mut self,
        ids: &[ChatId],
        now: Timestamp,
        before: Duration,
    ) -> Result<Vec<ChatId>, StorageError>;

    /// Returns the chats of these messages, each once.
    async fn of_messages(&mut self, messages: &[MessageId]) -> Result<Vec<Chat>, StorageError>;

    /// Lets the windows of these chats end at these times, unless they end later.
    async fn extend_windows(&mut self, ends: &BTreeMap<ChatId, Timestamp>) -> Result<(), StorageError>;

    /// Closes chats; closed ones stay as they are.
    async fn close_many(&mut self, ids: &[ChatId]) -> Result<(), StorageError>;
}

/// A transaction with chats.
pub trait HasChats: Send {
    /// Returns the repository of this transaction.
    fn chats(&mut self) -> &mut dyn ChatRepository;
}
