//! Chats: the conversation of one contact with one router (spec A 2.4).

mod catalog;
mod error;
mod model;
mod repository;
mod service;
mod tag;

pub use catalog::{ChatCatalog, ChatFilter, HasChatCatalog};
pub use error::ChatError;
pub use model::{Chat, ChatStatus};
pub use repository::{ChatRepository, HasChats};
pub use service::Chats;
pub use tag::{ChatTag, ChatTagRepository, HasChatTags};
