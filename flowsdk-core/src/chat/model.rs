//! The chat.

use crate::context::OpContext;
use crate::id::{ChatId, ContactId, RouterId};
use crate::time::Timestamp;

/// Whether a chat still takes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatStatus {
    /// It does; at most one a contact and router.
    Open,
    /// It is history.
    Closed,
}

impl ChatStatus {
    /// Returns the name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl crate::cell::Named for ChatStatus {
    const ALL: &'static [Self] = &[Self::Open, Self::Closed];

    fn name(self) -> &'static str {
        Self::name(self)
    }
}

/// A chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    /// The id of the chat.
    pub id: ChatId,
    /// The contact who writes.
    pub contact_id: ContactId,
    /// The router; `None` on legacy chats.
    pub router_id: Option<RouterId>,
    /// Open or closed.
    pub status: ChatStatus,
    /// Summary of the conversation, for those who read on.
    pub summary: Option<String>,
    /// When it was opened.
    pub created_at: Timestamp,
}

impl Chat {
    /// Returns a chat that opens now.
    pub fn open(cx: &OpContext, contact_id: ContactId, router_id: RouterId) -> Self {
        Self {
            id: ChatId::generate(cx.ids()),
            contact_id,
            router_id: Some(router_id),
            status: ChatStatus::Open,
            summary: None,
            created_at: cx.now(),
        }
    }
}
