//! Why a use case of chats fails.

use crate::fault::{Fault, StorageError};

/// The reason why a chat use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ChatError {
    /// No such chat within reach.
    #[error("no such chat")]
    #[fault(NotFound, "not_found", pt = "Chat não encontrado", en = "Chat not found")]
    NotFound,
    /// No such message within reach.
    #[error("no such message")]
    #[fault(NotFound, "not_found", pt = "Mensagem não encontrada", en = "Message not found")]
    MessageNotFound,
    /// The cursor is not one of messages.
    #[error("not a cursor of messages")]
    #[fault(Invalid, "validation_failed", pt = "Cursor inválido", en = "Invalid cursor", field = "cursor")]
    Cursor,
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
