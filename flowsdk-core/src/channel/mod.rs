//! Channels that send through a provider: the port that its adapters implement.

mod sender;

pub use sender::{Accepted, ChannelSender, Refusal, RefusalClass, SendError, SendingAccount};
