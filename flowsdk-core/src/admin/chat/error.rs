//! Why a use case of chats fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::text::Text;

/// The reason why a chat use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChatError {
    /// No such chat within reach.
    #[error("no such chat")]
    NotFound,
    /// No such message within reach.
    #[error("no such message")]
    MessageNotFound,
    /// The cursor is not one of messages.
    #[error("not a cursor of messages")]
    Cursor,
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for ChatError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::MessageNotFound => FaultKind::NotFound,
            Self::Cursor => FaultKind::Invalid,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound | Self::MessageNotFound => "not_found",
            Self::Cursor => "validation_failed",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Chat não encontrado", "Chat not found"),
            Self::MessageNotFound => Text::new("Mensagem não encontrada", "Message not found"),
            Self::Cursor => Text::new("Cursor inválido", "Invalid cursor"),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        matches!(self, Self::Cursor).then_some("cursor")
    }
}
