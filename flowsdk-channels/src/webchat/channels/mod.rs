//! The channels of the web chat, as they are administered (spec B 4.1, 4.4).
//!
//! Visitors and turns read channels from storage, so a change counts with the next handshake and the next session,
//! in every process.

mod catalog;
mod change;
mod error;
mod service;
mod testing;
mod view;

pub use catalog::{HasWebchatCatalog, WebchatCatalog};
pub use change::{NewWebchatChannel, WebchatChannelChange};
pub use error::WebchatChannelError;
pub use service::{ShownChannel, WebchatChannels};
pub use testing::PublishedTest;
pub use view::WebchatChannelView;
