//! Why a use case of routers fails.

use std::sync::Arc;

use crate::admin::flow::{InitialFlowError, TOOL_BEGINS_NOTHING};
use crate::fault::{Fault, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::Dependants;

/// The reason why a router use case fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum RouterError {
    /// No such router.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    NotFound,
    /// The initial flow is not one of the router's.
    #[error("initial flow of another router")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "Flow não pertence ao roteador",
        en = "The flow does not belong to the router",
        field = "initialFlowId"
    )]
    FlowUnknown,
    /// The initial flow is a tool.
    #[error("initial flow is a tool")]
    #[fault(Unprocessable, "flow_is_tool", text = TOOL_BEGINS_NOTHING, field = "initialFlowId")]
    FlowIsTool,
    /// The credential does not exist.
    #[error("no such credential")]
    #[fault(
        Unprocessable,
        "credential_unknown",
        pt = "Credencial não encontrada",
        en = "Credential not found",
        field = "llmCredentialId"
    )]
    CredentialUnknown,
    /// Something depends on it.
    #[error("in use")]
    #[fault(transparent)]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed; shared by all whose lookup was part of the same query.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[source] Arc<StorageError>),
}

impl From<StorageError> for RouterError {
    fn from(error: StorageError) -> Self {
        Self::Storage(Arc::new(error))
    }
}

impl From<InitialFlowError> for RouterError {
    fn from(error: InitialFlowError) -> Self {
        match error {
            InitialFlowError::Unknown => Self::FlowUnknown,
            InitialFlowError::Tool => Self::FlowIsTool,
            InitialFlowError::Storage(error) => error.into(),
        }
    }
}
