//! Why a use case of channels fails.

use flowsdk_core::admin::flow::{FlowError, InitialFlowError, TOOL_BEGINS_NOTHING};
use flowsdk_core::fault::{Fault, FaultKind, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::{Dependants, IN_USE, IN_USE_TEXT};
use flowsdk_core::text::Text;

/// The reason why a use case of web chat channels failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebchatChannelError {
    /// No such channel within reach.
    #[error("no such channel")]
    NotFound,
    /// The router whose test channel is asked for does not exist.
    #[error("no such router")]
    RouterNotFound,
    /// No such router to create it in.
    #[error("no such router")]
    RouterUnknown,
    /// The flow is none of the router's.
    #[error("flow of another router")]
    FlowUnknown,
    /// The flow is a tool.
    #[error("tool")]
    FlowIsTool,
    /// The test channel cannot be deleted (spec B 4.4).
    #[error("test channel")]
    TestChannel,
    /// Sessions depend on it.
    #[error("in use")]
    InUse(Dependants),
    /// The flow cannot be tested.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// The request was repeated with other content.
    #[error(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

impl From<InitialFlowError> for WebchatChannelError {
    fn from(error: InitialFlowError) -> Self {
        match error {
            InitialFlowError::Unknown => Self::FlowUnknown,
            InitialFlowError::Tool => Self::FlowIsTool,
            InitialFlowError::Storage(error) => error.into(),
        }
    }
}

impl Fault for WebchatChannelError {
    fn kind(&self) -> FaultKind {
        match self {
            Self::NotFound | Self::RouterNotFound => FaultKind::NotFound,
            Self::RouterUnknown | Self::FlowUnknown | Self::FlowIsTool => FaultKind::Unprocessable,
            Self::TestChannel => FaultKind::Invalid,
            Self::InUse(_) => FaultKind::Conflict,
            Self::Flow(error) => error.kind(),
            Self::Idempotency(error) => error.kind(),
            Self::Storage(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound | Self::RouterNotFound => "not_found",
            Self::RouterUnknown => "router_unknown",
            Self::FlowUnknown => "flow_unknown",
            Self::FlowIsTool => "flow_is_tool",
            Self::TestChannel => "test_channel",
            Self::InUse(_) => IN_USE,
            Self::Flow(error) => error.code(),
            Self::Idempotency(error) => error.code(),
            Self::Storage(error) => error.code(),
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NotFound => Text::new("Canal não encontrado", "Channel not found"),
            Self::RouterNotFound | Self::RouterUnknown => {
                Text::new("Roteador não encontrado", "Router not found")
            }
            Self::FlowUnknown => {
                Text::new("Flow não pertence ao roteador", "The flow does not belong to the router")
            }
            Self::FlowIsTool => TOOL_BEGINS_NOTHING,
            Self::TestChannel => {
                Text::new("O canal de teste não pode ser excluído", "The test channel cannot be deleted")
            }
            Self::InUse(_) => IN_USE_TEXT,
            Self::Flow(error) => error.text(),
            Self::Idempotency(error) => error.text(),
            Self::Storage(error) => error.text(),
        }
    }

    fn field(&self) -> Option<&'static str> {
        match self {
            Self::RouterUnknown => Some("routerId"),
            Self::Flow(error) => error.field(),
            _ => None,
        }
    }

    fn details(&self) -> Vec<(String, Text)> {
        match self {
            Self::InUse(dependants) => dependants.details(),
            Self::Flow(error) => error.details(),
            _ => Vec::new(),
        }
    }
}
