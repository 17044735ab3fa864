//! The chat.

use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::context::OpContext;
use crate::id::{ChatId, ContactId, RouterId};
use crate::time::Timestamp;

/// Whether a chat still takes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum ChatStatus {
    /// It does; at most one a contact and router.
    Open,
    /// It is history.
    Closed,
}

/// What begins the session of a visitor of a web chat channel (rulings S22).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum StartOn {
    /// The first message of the visitor.
    #[default]
    Message,
    /// The visitor enters a chat in which nobody has written.
    Open,
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
    /// Until when the contact can be answered freely ([`Capabilities::window`](crate::message::Capabilities::window)); `None`, if they
    /// have not written on a channel that has a window.
    pub window_ends_at: Option<Timestamp>,
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
            window_ends_at: None,
        }
    }
}
