//! Reading chats and their messages.

mod error;
mod model;
mod service;

pub use error::ChatError;
pub use model::ChatMessage;
pub use service::Chats;
