//! Quick replies: texts that agents send often, with placeholders (spec B 4.7).

mod error;
mod model;
mod placeholders;
mod repository;
mod service;

pub use error::QuickReplyError;
pub use model::{NewQuickReply, QuickReply, QuickReplyChange, QuickReplyId, ResolvedQuickReply};
pub use placeholders::{Known, resolve};
pub use repository::{HasQuickReplies, QuickReplyRepository};
pub use service::QuickReplies;
