//! `stream:summary`.

use serde::{Deserialize, Serialize};

use crate::id::{ChatId, ContactId, TicketId};
use crate::time::Timestamp;

/// Asks for a summary of the conversation, at the close of a ticket or a chat (spec B 6). The consumer writes it to
/// the ticket or the chat and to the contact as its last session summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRequest {
    /// The chat to read.
    pub chat_id: ChatId,
    /// The ticket to summarise; without it, the whole chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_id: Option<TicketId>,
    /// The contact it was with.
    pub contact_id: ContactId,
    /// The reason for the summary: the ticket or chat that closed.
    pub reason: SummaryReason,
    /// When the ticket or chat closed.
    pub timestamp: Timestamp,
}

/// Why a summary is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SummaryReason {
    /// A ticket was closed.
    TicketClosed,
    /// A chat was closed.
    ChatClosed,
}
