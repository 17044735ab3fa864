//! Why a use case of flows fails.

use crate::fault::{Fault, StorageError};
use crate::flow::Problem;
use crate::idempotency::IdempotencyConflict;
use crate::in_use::Dependants;
use crate::router::RouterUnknown;
use crate::text::Text;

/// The reason why a flow use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum FlowError {
    /// No such flow within reach.
    #[error("no such flow")]
    #[fault(NotFound, "not_found", pt = "Flow não encontrado", en = "Flow not found")]
    NotFound,
    /// The flow has no such version.
    #[error("no such version")]
    #[fault(NotFound, "not_found", pt = "Versão não encontrada", en = "Version not found")]
    VersionNotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The draft has been changed since it was read.
    #[error("draft at revision {current}")]
    #[fault(
        Conflict,
        "stale_revision",
        pt = "O rascunho foi alterado; a revisão atual é {current}",
        en = "The draft was changed; its revision now is {current}",
        field = "revision"
    )]
    StaleRevision {
        /// Its revision now.
        current: i64,
    },
    /// The definition cannot be published.
    // Warnings do not prevent a publication, so the details leave them out.
    #[error("definition with errors")]
    #[fault(
        Unprocessable, "flow_invalid",
        pt = "Definição do flow inválida", en = "Invalid flow definition",
        details = .0.iter().filter(|problem| problem.is_error()).map(detail).collect()
    )]
    Invalid(Vec<Problem>),
    /// The flow is not published.
    #[error("not published")]
    #[fault(
        Conflict,
        "flow_not_published",
        pt = "Flow sem publicação ativa",
        en = "The flow is not published"
    )]
    NotPublished,
    /// A tool has no conversations to be tested in.
    #[error("a tool")]
    #[fault(
        Unprocessable,
        "flow_is_tool",
        pt = "Uma ferramenta não tem canal de teste",
        en = "A tool has no test channel"
    )]
    Tool,
    /// Something depends on it.
    #[error("in use")]
    #[fault(transparent)]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

/// The text of `flow_is_tool` for the initial flow of a router or channel.
pub const TOOL_BEGINS_NOTHING: Text =
    Text::new("Uma ferramenta não pode iniciar conversas", "A tool cannot begin conversations");

/// Returns a finding as a detail of an error: its JSON pointer, its block and the message for authors.
pub(super) fn detail(problem: &Problem) -> (String, Text) {
    let in_block = problem.block_id.as_ref().map(|block| format!("{block}: ")).unwrap_or_default();
    let text = problem.message.map(|text| format!("{in_block}{text} ({})", problem.code));
    (format!("definition{}", problem.pointer), text)
}
