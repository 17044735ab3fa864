//! `stream:read-receipts`.

use serde::{Deserialize, Serialize};

use crate::session::SessionId;
use crate::time::Timestamp;

/// A message of a contact was taken, and the contact is to see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadReceipt {
    /// The session in which the contact wrote.
    pub session_id: SessionId,
    /// The channel's id of the message. Those before it count as read, too.
    pub channel_message_id: String,
    /// Whether the contact sees, too, that somebody types.
    pub is_typing: bool,
    /// When it was taken.
    pub timestamp: Timestamp,
}
