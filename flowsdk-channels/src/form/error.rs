//! Why a use case of forms fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_core::text::Text;

/// The reason why a use case of interactive forms fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum FormError {
    /// No such form within reach.
    #[error("no such form")]
    #[fault(NotFound, "not_found", pt = "Formulário não encontrado", en = "Form not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has no such number.
    #[error("no such number in the router")]
    #[fault(
        Unprocessable,
        "channel_number_unknown",
        pt = "Número não encontrado no roteador",
        en = "The router has no such number",
        field = "channelNumberId"
    )]
    NumberUnknown,
    /// The router has no such flow.
    #[error("no such flow in the router")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "Flow não encontrado no roteador",
        en = "The router has no such flow",
        field = "flowId"
    )]
    FlowUnknown,
    /// The flow is no tool, and might wait or speak.
    #[error("the flow is no tool")]
    #[fault(
        Unprocessable,
        "flow_not_tool",
        pt = "O flow não é uma ferramenta",
        en = "The flow is not a tool",
        field = "flowId"
    )]
    NotATool,
    /// The router has a form of this name.
    #[error("name taken")]
    #[fault(Conflict, "name_taken", pt = "Nome já existe", en = "Name already exists", field = "name")]
    NameTaken,
    /// The state of the form does not take the command.
    #[error("not in a state for it")]
    #[fault(
        Conflict,
        "form_status",
        pt = "O estado do formulário não permite isto",
        en = "The state of the form does not allow this"
    )]
    Status,
    /// The definition was changed since it was read.
    #[error("form at revision {current}")]
    #[fault(
        Conflict,
        "stale_revision",
        pt = "O formulário foi alterado; a revisão atual é {current}",
        en = "The form was changed; its revision now is {current}",
        field = "revision"
    )]
    StaleRevision {
        /// Its revision now.
        current: i64,
    },
    /// A form without screens cannot be published.
    #[error("no screens")]
    #[fault(
        Unprocessable,
        "form_empty",
        pt = "O formulário não tem telas",
        en = "The form has no screens",
        field = "definition"
    )]
    Empty,
    /// The definition is refused: field and reason.
    #[error("a definition that is refused")]
    #[fault(Invalid, "validation_failed", pt = "Dados inválidos", en = "Invalid data", details = .0.clone())]
    Invalid(Vec<(String, Text)>),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
