//! What is sent by phone: the queue of messages, the sender that empties it, and the calls to the provider.
//!
//! A message enters the queue in the order of `stream:outgoing-phone`. Of one recipient the next message is sent when the
//! one before was accepted or has failed (rulings C6). Each call has a row of its own before it is made, so that a call
//! whose answer was lost is known, and never made again by itself.

mod body;
mod class;
mod failure;
mod graph;
mod outbound;
mod pace;
mod queue;
mod sender;

/// The version of the provider's API that the bodies and codes are written for.
pub const API_VERSION: &str = "v24.0";

pub use body::{body_of, recipient_of};
pub use class::class_of;
pub use failure::LocalFailure;
pub use graph::GraphSender;
pub use outbound::{
    Attempt, AttemptOutcome, HasOutbound, NumberState, Outbound, OutboundRepository, Pause, Settlement,
    SettlementOutcome,
};
pub use queue::{OUTBOUND_GROUP, OutboundQueue};
pub use sender::{PhoneSender, SenderTx};
