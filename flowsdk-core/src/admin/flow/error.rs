//! Why a use case of flows fails.

use crate::fault::{Fault, FaultKind, StorageError};
use crate::flow::Problem;
use crate::idempotency::IdempotencyConflict;
use crate::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use crate::text::Text;

/// The reason why a flow use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// No such flow within reach.
    #[error("no such flow")]
    NotFound,
    /// The flow has no such version.
    #[error("no such version")]
    VersionNotFound,
    /// No such router to create it in.
    #[error("no such router")]
    RouterUnknown,
    /// The draft has been changed since it was read.
    #[error("draft at revision {current}")]
    StaleRevision {
        /// Its revision now.
        current: i64,
    },
    /// The definition cannot be published.
    #[error("definition with errors")]
    Invalid(Vec<Problem>),
    /// The flow is not published.
    #[error("not published")]
    NotPublished,
    /// A tool has no conversations to be tested in.
    #[error("a tool")]
    Tool,
    /// Something depends on it.
    #[error("in use")]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

/// The text of `flow_is_tool` for the initial flow of a router or channel.
pub const TOOL_BEGINS_NOTHING: Text =
    Text::new("Uma ferramenta não pode iniciar conversas", "A tool cannot begin conversations");

impl Fault for FlowError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::VersionNotFound => FaultKind::NotFound,
            Self::StaleRevision { .. } | Self::NotPublished | Self::InUse(_) => FaultKind::Conflict,
            Self::Invalid(_) | Self::Tool | Self::RouterUnknown => FaultKind::Unprocessable,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound | Self::VersionNotFound => "not_found",
            Self::RouterUnknown => "router_unknown",
            Self::StaleRevision { .. } => "stale_revision",
            Self::NotPublished => "flow_not_published",
            Self::Invalid(_) => "flow_invalid",
            Self::Tool => "flow_is_tool",
            Self::InUse(_) => IN_USE,
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Flow não encontrado", "Flow not found"),
            Self::VersionNotFound => Text::new("Versão não encontrada", "Version not found"),
            Self::RouterUnknown => Text::new("Roteador não encontrado", "Router not found"),
            Self::StaleRevision { current } => Text::of(
                format!("O rascunho foi alterado; a revisão atual é {current}"),
                format!("The draft was changed; its revision now is {current}"),
            ),
            Self::Invalid(_) => Text::new("Definição do flow inválida", "Invalid flow definition"),
            Self::NotPublished => Text::new("Flow sem publicação ativa", "The flow is not published"),
            Self::Tool => Text::new("Uma ferramenta não tem canal de teste", "A tool has no test channel"),
            Self::InUse(_) => IN_USE_TEXT,
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::StaleRevision { .. } => Some("revision"),
            Self::RouterUnknown => Some("routerId"),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            // Those that can be published all the same are not why it failed.
            Self::Invalid(problems) => {
                problems.iter().filter(|problem| problem.is_error()).map(detail).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns a finding as a detail of an error: its JSON pointer, its block and the message for authors.
pub(super) fn detail(problem: &Problem) -> (String, Text) {
    let in_block = problem.block_id.as_ref().map(|block| format!("{block}: ")).unwrap_or_default();
    let text = problem.message.map(|text| format!("{in_block}{text} ({})", problem.code));
    (format!("definition{}", problem.pointer), text)
}
