//! Tags, by which people sort tickets (spec B 2.3).

mod error;
mod model;
mod repository;
mod service;

pub use error::TagError;
pub use model::{NewTag, Tag, TagChange, TagId};
pub use repository::{HasTags, TagRepository};
pub use service::Tags;
