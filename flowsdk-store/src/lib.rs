//! Adapters of FlowSDK's storage, stream and key-value ports.

pub mod memory;
pub mod redis;
