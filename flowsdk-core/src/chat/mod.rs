//! Chats: the conversation of one contact with one router (spec A 2.4).

mod appearance;
mod attachments;
mod catalog;
mod model;
mod repository;
mod tag;

pub use appearance::{Appearance, AppearanceTexts, Font, Launcher, PageTexts, Side};
pub use attachments::Attachments;
pub use catalog::{ChatCatalog, ChatFilter, HasChatCatalog};
pub use model::{Chat, ChatStatus, StartOn};
pub use repository::{ChatRepository, HasChats};
pub use tag::{ChatTag, ChatTagRepository, HasChatTags};
