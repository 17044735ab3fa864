//! Labels of chats: the action `addTags`.

use async_trait::async_trait;

use crate::fault::StorageError;
use crate::id::ChatId;
use crate::time::Timestamp;

/// A label of a chat; a chat has each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatTag {
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The label, with its tokens filled in.
    pub tag: String,
    /// When the chat first got it.
    pub created_at: Timestamp,
}

/// Labels of one transaction.
#[async_trait]
pub trait ChatTagRepository: Send {
    /// Adds labels; those that a chat has already stay as they are.
    async fn add_many(&mut self, tags: &[ChatTag]) -> Result<(), StorageError>;

    /// Returns the labels of a chat, in order of their text.
    async fn of_chat(&mut self, chat: &ChatId) -> Result<Vec<ChatTag>, StorageError>;
}

/// A transaction with the labels of chats.
pub trait HasChatTags: Send {
    /// Returns the repository of this transaction.
    fn chat_tags(&mut self) -> &mut dyn ChatTagRepository;
}
