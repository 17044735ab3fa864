//! The flows with which conversations can begin.

use crate::fault::StorageError;
use crate::flow::{FlowKind, HasFlows};
use crate::id::{FlowId, RouterId};
use crate::text::Text;

/// Why conversations of a router cannot begin with a flow.
#[derive(Debug, thiserror::Error)]
pub enum InitialFlowError {
    /// It is none of the router's.
    #[error("flow of another router")]
    Unknown,
    /// A tool is called, not begun.
    #[error("a tool")]
    Tool,
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

/// Requires that conversations of a router can begin with a flow.
///
/// # Errors
/// Any [`InitialFlowError`].
pub async fn require_initial<X: HasFlows>(
    tx: &mut X,
    router: &RouterId,
    flow: &FlowId,
) -> Result<(), InitialFlowError> {
    match tx.flows().find(flow).await? {
        Some(flow) if flow.router_id != *router => Err(InitialFlowError::Unknown),
        Some(flow) if flow.kind == FlowKind::Tool => Err(InitialFlowError::Tool),
        Some(_) => Ok(()),
        None => Err(InitialFlowError::Unknown),
    }
}

/// Why the first message of a conversation gets no answer of a flow, although every setting is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOpening {
    /// Neither the channel nor its router names a flow.
    NoFlow,
    /// The flow that is named has no version that such conversations run.
    NotPublished,
}

impl NoOpening {
    /// Returns the stable name of the reason.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoFlow => "no_initial_flow",
            Self::NotPublished => "initial_flow_not_published",
        }
    }

    /// Returns what people are told, with the remedy.
    pub fn text(self) -> Text {
        match self {
            Self::NoFlow => Text::new(
                "Nenhum fluxo responde aqui: defina o fluxo inicial do canal ou do roteador",
                "No flow answers here: set the initial flow of the channel or of its router",
            ),
            Self::NotPublished => Text::new(
                "O fluxo inicial não está publicado: ninguém responde até que seja publicado",
                "The initial flow is not published: nobody answers until it is",
            ),
        }
    }
}

/// Returns why no conversation begins with `flow`, if none does. A test channel also runs test versions.
///
/// # Errors
/// When storage fails.
pub async fn no_opening<X: HasFlows>(
    tx: &mut X,
    flow: Option<&FlowId>,
    is_test: bool,
) -> Result<Option<NoOpening>, StorageError> {
    let Some(flow) = flow else {
        return Ok(Some(NoOpening::NoFlow));
    };
    let found = tx.flows().find(flow).await?;
    let version =
        found.and_then(|flow| flow.published_version_id.or(flow.test_version_id.filter(|_| is_test)));
    Ok(version.is_none().then_some(NoOpening::NotPublished))
}
