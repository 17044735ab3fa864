//! Chats: the conversation of one contact with one router (spec A 2.4).

mod model;
mod repository;
mod tag;

pub use model::{Chat, ChatStatus};
pub use repository::ChatRepository;
pub use tag::{ChatTag, ChatTagRepository};
