//! Why a use case of routers fails.

use std::sync::Arc;

use crate::fault::{Fault, FaultKind, StorageError};
use crate::text::Text;

/// The reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// No such router.
    #[error("no such router")]
    NotFound,
    /// Storage failed; shared by all whose lookup was part of the same query.
    #[error("storage failed")]
    Storage(#[source] Arc<StorageError>),
}

impl Fault for RouterError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Roteador não encontrado", "Router not found"),
            Self::Storage(error) => error.text(),
        }
    }
}
