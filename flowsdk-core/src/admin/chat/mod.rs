//! Reading chats and their messages.

mod error;
mod service;

pub use error::ChatError;
pub use service::Chats;
