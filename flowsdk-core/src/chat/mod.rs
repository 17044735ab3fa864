//! Chats: the conversation of one contact with one router (spec A 2.4).

mod model;
mod repository;

pub use model::{Chat, ChatStatus};
pub use repository::ChatRepository;
