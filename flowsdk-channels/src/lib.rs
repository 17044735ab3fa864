//! Channel gateways: from the input of a channel to the shared incoming events, and from outgoing events to
//! the output of a channel.

pub mod channel_number;
pub mod form;
pub mod phone;
pub mod policy;
mod provider_fault;
pub mod template;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod type_mapping;
pub mod webchat;

pub use provider_fault::ProviderFault;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
