//! The flows with which conversations can begin.

use crate::fault::StorageError;
use crate::flow::{FlowKind, HasFlows};
use crate::id::{FlowId, RouterId};

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
