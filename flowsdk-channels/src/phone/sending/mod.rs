//! What is sent by phone: the queue of messages, and the sender that empties it.
//!
//! A message enters the queue in the order of `stream:outgoing-phone`. Of one contact the next message is sent when the
//! one before was accepted or has failed (rulings C6). Each call has a row of its own before it is made, so that a call
//! whose answer was lost is known, and never made again by itself.

mod consent;
mod failure;
mod notes;
mod outbound;
mod pace;
mod queue;
mod sender;

pub use failure::LocalFailure;
pub use outbound::{
    Attempt, AttemptOutcome, HasOutbound, NumberState, Outbound, OutboundRepository, Owners, Pause, Priority,
    Settlement, SettlementOutcome,
};
pub use queue::{OUTBOUND_GROUP, OutboundQueue};
pub use sender::{PhoneSender, SenderTx};
