//! Channel gateways: from what a channel sends to the shared incoming events, and from outgoing events to
//! what a channel shows.

pub mod channel_number;
pub mod template;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod webchat;
