//! Why a turn is not shown.

use flowsdk_core::fault::{Fault, StorageError};

/// The reason why a use case of turns fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum AgentTurnError {
    /// No such turn within reach.
    #[error("no such turn")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Turno de agente de IA não encontrado",
        en = "Turn of an AI agent not found"
    )]
    NotFound,
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
