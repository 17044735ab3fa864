//! Storage of notes.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, RouterId, UserId};
use flowsdk_core::page::{Page, PageRequest};

use super::Note;

/// Notes of one transaction.
#[async_trait]
pub trait NoteRepository: Send {
    /// Stores a new note.
    async fn insert(&mut self, note: &Note) -> Result<(), StorageError>;

    /// Returns a page of the notes of a chat, newest first.
    async fn of_chat(&mut self, chat: &ChatId, page: &PageRequest) -> Result<Page<Note>, StorageError>;

    /// Returns those of these users who are agents of the router.
    async fn agents_among(
        &mut self,
        router: &RouterId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StorageError>;
}

/// A transaction with notes.
pub trait HasNotes: Send {
    /// Returns the repository of this transaction.
    fn notes(&mut self) -> &mut dyn NoteRepository;
}
