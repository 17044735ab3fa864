//! Why a use case of routers fails.

use std::sync::Arc;

use crate::admin::flow::{InitialFlowError, TOOL_BEGINS_NOTHING};
use crate::fault::{Fault, FaultKind, StorageError};
use crate::idempotency::IdempotencyConflict;
use crate::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use crate::text::Text;

/// The reason why a router use case fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// No such router.
    #[error("no such router")]
    NotFound,
    /// The initial flow is not one of the router's.
    #[error("initial flow of another router")]
    FlowUnknown,
    /// The initial flow is a tool.
    #[error("initial flow is a tool")]
    FlowIsTool,
    /// The credential does not exist.
    #[error("no such credential")]
    CredentialUnknown,
    /// Something depends on it.
    #[error("in use")]
    InUse(Dependants),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed; shared by all whose lookup was part of the same query.
    #[error("storage failed")]
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

impl Fault for RouterError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound => FaultKind::NotFound,
            Self::FlowUnknown | Self::FlowIsTool | Self::CredentialUnknown => FaultKind::Unprocessable,
            Self::InUse(_) => FaultKind::Conflict,
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::FlowUnknown => "flow_unknown",
            Self::FlowIsTool => "flow_is_tool",
            Self::CredentialUnknown => "credential_unknown",
            Self::InUse(_) => IN_USE,
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Roteador não encontrado", "Router not found"),
            Self::FlowUnknown => {
                Text::new("Flow não pertence ao roteador", "The flow does not belong to the router")
            }
            Self::FlowIsTool => TOOL_BEGINS_NOTHING,
            Self::CredentialUnknown => Text::new("Credencial não encontrada", "Credential not found"),
            Self::InUse(_) => IN_USE_TEXT,
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::FlowUnknown | Self::FlowIsTool => Some("initialFlowId"),
            Self::CredentialUnknown => Some("llmCredentialId"),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            _ => Vec::new(),
        }
    }
}
