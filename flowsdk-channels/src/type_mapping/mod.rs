//! Channel type mappings: the names that people and outside systems have for the channels of a router.

mod error;
mod model;

use flowsdk_core::record::RouterRecords;

pub use error::ChannelTypeMappingError;
pub use model::{
    ChannelTypeMapping, ChannelTypeMappingChange, ChannelTypeMappingId, ExternalType, InvalidExternalType,
    NewChannelTypeMapping,
};

/// The use cases of channel type mappings.
pub type ChannelTypeMappings<S> = RouterRecords<S, ChannelTypeMapping>;
