//! Channel type mappings: the names that people and outside systems have for the channels of a router.

mod error;
mod model;
mod repository;
mod service;

pub use error::ChannelTypeMappingError;
pub use model::{
    ChannelTypeMapping, ChannelTypeMappingChange, ChannelTypeMappingId, ExternalType, InvalidExternalType,
    NewChannelTypeMapping,
};
pub use repository::{ChannelTypeMappingRepository, HasChannelTypeMappings};
pub use service::ChannelTypeMappings;
