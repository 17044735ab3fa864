//! Why a use case of dead letters fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::text::Text;

/// The reason why a dead letter use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeadLetterError {
    /// No such dead letter: it never was, was retried, or was deleted.
    #[error("no such dead letter")]
    NotFound,
    /// No group of this installation reads its stream, so that it would be lost.
    #[error("its stream is not read")]
    NotRead,
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl Fault for DeadLetterError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::NotRead => FaultKind::Conflict,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotRead => "stream_not_read",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Entrada não encontrada", "Dead letter not found"),
            Self::NotRead => Text::new(
                "Ninguém lê o fluxo desta entrada aqui",
                "Nobody reads the stream of this entry here",
            ),
            Self::Storage(error) => error.text(),
        }
    }
}
