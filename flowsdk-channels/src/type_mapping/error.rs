//! Why a use case of channel type mappings fails.

use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;

/// The reason why a use case of channel type mappings fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum ChannelTypeMappingError {
    /// No such mapping within reach.
    #[error("no such channel type mapping")]
    #[fault(NotFound, "not_found", pt = "Mapeamento não encontrado", en = "Mapping not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The router has a mapping of this channel.
    #[error("channel type taken")]
    #[fault(
        Conflict,
        "channel_type_taken",
        pt = "O roteador já tem um mapeamento deste canal",
        en = "The router has a mapping of this channel already",
        field = "channelType"
    )]
    Taken,
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// The database failed; see the source.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}
