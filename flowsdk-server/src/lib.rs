//! HTTP and socket surface of FlowSDK.
//!
//! * [`serve`]: the accept loop every FlowSDK server runs on.
//! * [`socket`]: Socket.IO with ordered, bounded event handling.

pub mod serve;
pub mod socket;
