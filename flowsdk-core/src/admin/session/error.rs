//! Why a use case of sessions fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::session::VariablesTooLarge;
use crate::text::Text;

/// The reason why a session use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No such session within reach.
    #[error("no such session")]
    NotFound,
    /// The flow to go to is not there, not published, or a tool.
    #[error("flow without active publication")]
    FlowNotPublished,
    /// A human has the session.
    #[error("session in human attendance")]
    InHumanAttendance,
    /// The flow to go to is another router's.
    #[error("redirect to another router")]
    CrossRouter,
    /// The flow to go to has no such block.
    #[error("no such block")]
    BlockNotFound,
    /// Nothing stopped the session.
    #[error("session is not frozen")]
    NotFrozen,
    /// The variables would be too large.
    #[error(transparent)]
    VariablesTooLarge(#[from] VariablesTooLarge),
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Fault for SessionError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::FlowNotPublished => FaultKind::NotFound,
            Self::InHumanAttendance | Self::CrossRouter | Self::NotFrozen => FaultKind::Conflict,
            Self::BlockNotFound => FaultKind::Unprocessable,
            Self::VariablesTooLarge(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::FlowNotPublished => "flow_not_published",
            Self::InHumanAttendance => "session_in_human_attendance",
            Self::CrossRouter => "cross_router_redirect",
            Self::BlockNotFound => "block_not_found",
            Self::NotFrozen => "session_not_frozen",
            Self::VariablesTooLarge(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    /// Spec A 4.5 rule 4, to the letter.
    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Sessão não encontrada", "Session not found"),
            Self::FlowNotPublished => Text::new(
                "Flow não encontrado ou sem publicação ativa",
                "Flow not found or without an active publication",
            ),
            Self::InHumanAttendance => Text::new(
                "Sessão em atendimento humano — devolva ao fluxo antes de redirecionar",
                "Session in human attendance — give it back to the flow before redirecting",
            ),
            Self::CrossRouter => {
                Text::new("Cross-router redirect não permitido", "Cross-router redirect not allowed")
            }
            Self::BlockNotFound => Text::new(
                "Bloco destino não encontrado na definição do flow",
                "Target block not found in the definition of the flow",
            ),
            Self::NotFrozen => Text::new("A sessão não está congelada", "The session is not frozen"),
            Self::VariablesTooLarge(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }
}

impl Fault for VariablesTooLarge {
    fn kind(&self) -> FaultKind {
        FaultKind::Unprocessable
    }

    fn code(&self) -> &'static str {
        "variables_too_large"
    }

    fn text(&self) -> Text {
        Text::new(
            "As variáveis podem ter no máximo 64 KiB no total",
            "The variables may have at most 64 KiB in total",
        )
    }
}
