//! Why a use case of channels fails.

use flowsdk_core::admin::flow::{FlowError, InitialFlowError, TOOL_BEGINS_NOTHING};
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::in_use::Dependants;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of web chat channels failed.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum WebchatChannelError {
    /// No such channel within reach.
    #[error("no such channel")]
    #[fault(NotFound, "not_found", pt = "Canal não encontrado", en = "Channel not found")]
    NotFound,
    /// The router whose test channel is asked for does not exist.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    RouterNotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The flow is none of the router's.
    #[error("flow of another router")]
    #[fault(
        Unprocessable,
        "flow_unknown",
        pt = "Flow não pertence ao roteador",
        en = "The flow does not belong to the router",
        field = "initialFlowId"
    )]
    FlowUnknown,
    /// The flow is a tool.
    #[error("tool")]
    #[fault(Unprocessable, "flow_is_tool", text = TOOL_BEGINS_NOTHING, field = "initialFlowId")]
    FlowIsTool,
    /// The channel to test in is none of the router's, or is not a test channel.
    #[error("no such test channel")]
    #[fault(
        Unprocessable,
        "channel_unknown",
        pt = "O canal não é um canal de teste do roteador",
        en = "The channel is not a test channel of the router",
        field = "channelId"
    )]
    TestChannelUnknown,
    /// The router's own test channel cannot be deleted (spec B 4.4).
    #[error("test channel")]
    #[fault(
        Invalid,
        "test_channel",
        pt = "O canal de teste não pode ser excluído",
        en = "The test channel cannot be deleted"
    )]
    TestChannel,
    /// Sessions depend on it.
    #[error("in use")]
    #[fault(transparent)]
    InUse(Dependants),
    /// The flow cannot be tested.
    #[error(transparent)]
    #[fault(transparent)]
    Flow(#[from] FlowError),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
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
