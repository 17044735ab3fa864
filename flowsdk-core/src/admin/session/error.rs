//! Why a use case of sessions fails.

use crate::fault::{Fault, StorageError};
use crate::session::VariablesTooLarge;

// The texts of a redirect are those of spec A 4.5 rule 4, word for word.
/// The reason why a session use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SessionError {
    /// No such session within reach.
    #[error("no such session")]
    #[fault(NotFound, "not_found", pt = "Sessão não encontrada", en = "Session not found")]
    NotFound,
    /// No such session within reach, and no trace of one that has ended.
    #[error("no such session, and no trace of it")]
    #[fault(
        NotFound,
        "not_found",
        pt = "Sessão não encontrada, e nenhum trace dela está armazenado",
        en = "Session not found, and no trace of it is stored: settings.trace of a flow asks for traces"
    )]
    NoTrace,
    /// The flow to go to is not there, not published, or a tool.
    #[error("flow without active publication")]
    #[fault(
        NotFound,
        "flow_not_published",
        pt = "Flow não encontrado ou sem publicação ativa",
        en = "Flow not found or without an active publication"
    )]
    FlowNotPublished,
    /// A human has the session.
    #[error("session in human attendance")]
    #[fault(
        Conflict,
        "session_in_human_attendance",
        pt = "Sessão em atendimento humano — devolva ao fluxo antes de redirecionar",
        en = "Session in human attendance — give it back to the flow before redirecting"
    )]
    InHumanAttendance,
    /// The flow to go to is another router's.
    #[error("redirect to another router")]
    #[fault(
        Conflict,
        "cross_router_redirect",
        pt = "Cross-router redirect não permitido",
        en = "Cross-router redirect not allowed"
    )]
    CrossRouter,
    /// The flow to go to has no such block.
    #[error("no such block")]
    #[fault(
        Unprocessable,
        "block_not_found",
        pt = "Bloco destino não encontrado na definição do flow",
        en = "Target block not found in the definition of the flow"
    )]
    BlockNotFound,
    /// Nothing stopped the session.
    #[error("session is not frozen")]
    #[fault(
        Conflict,
        "session_not_frozen",
        pt = "A sessão não está congelada",
        en = "The session is not frozen"
    )]
    NotFrozen,
    /// The variables would be too large.
    #[error(transparent)]
    #[fault(transparent)]
    VariablesTooLarge(#[from] VariablesTooLarge),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
