//! Routers and flows on their way from one server to another.

mod channel;

pub use channel::{ChannelTransfer, PortableChannel};
