//! Channels that work through a provider: the ports that its adapters implement.

mod media_source;
mod sender;

pub use media_source::{MediaSource, MediaSourceError, ProviderFile};
pub use sender::{Accepted, ChannelSender, Refusal, RefusalClass, SendError, SendingAccount};
