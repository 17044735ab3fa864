//! Outgoing webhooks: a router's events are sent to the addresses that subscribe to them.
//!
//! Nothing here names SQL or HTTP. [`webhook`] has the subscriptions; [`fan_out`] turns events of `stream:webhooks` into
//! deliveries; [`sender`] sends them, those of one conversation in their order; [`delivery`] has what both share.

pub mod delivery;
pub mod fan_out;
pub mod sender;
pub mod webhook;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
