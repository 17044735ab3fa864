//! The inbox: events of `stream:agent` that no turn has taken yet, by session.
//!
//! The consumer of the stream only moves events here. A turn takes minutes at times, and an entry of the stream must not.

mod consumer;
mod model;
mod repository;

pub use consumer::{AGENT_GROUP, AgentInbox, Delivered};
pub use model::{Letter, Urgency, Waiting};
pub use repository::{HasInbox, InboxRepository};
