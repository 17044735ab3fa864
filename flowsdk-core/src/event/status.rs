//! `stream:status`.

use serde::{Deserialize, Serialize};

use crate::id::MessageId;
use crate::message::{MessageStatus, StatusError};
use crate::session::SessionId;
use crate::time::Timestamp;

/// The report of a gateway on an outgoing message (spec B 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// The channel has it.
    Sent,
    /// The device has it.
    Delivered,
    /// The contact opened the message.
    Read,
    /// The contact played the recording.
    Played,
    /// It failed after it was sent.
    Failed,
    /// It could not be sent.
    SendFailed,
}

impl DeliveryStatus {
    /// The message status it leads to.
    pub fn message_status(self) -> MessageStatus {
        match self {
            Self::Sent => MessageStatus::Sent,
            Self::Delivered => MessageStatus::Delivered,
            Self::Read => MessageStatus::Read,
            Self::Played => MessageStatus::Played,
            Self::Failed | Self::SendFailed => MessageStatus::Failed,
        }
    }
}

/// A status of an outgoing message, named by our id, by the provider's, or by both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StatusEvent {
    pub status: DeliveryStatus,
    /// The id of the message row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_id: Option<MessageId>,
    /// The provider's id of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_message_id: Option<String>,
    /// The session, where the gateway knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The number that the provider says it is of. Its report counts for messages of that number alone: the apps of two
    /// businesses sign their deliveries with keys of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number_id: Option<String>,
    /// The provider's error; present for failures only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StatusError>,
    /// When the provider or the gateway saw it.
    pub timestamp: Timestamp,
}

impl StatusEvent {
    /// Returns the key that keeps the statuses of one message in order: the provider's id, if there is one. The report of a
    /// sender has both ids, those of the provider may have its own alone.
    pub fn key(&self) -> &str {
        let internal = || self.internal_id.as_ref().map(MessageId::as_str);
        self.channel_message_id.as_deref().or_else(internal).unwrap_or_default()
    }
}
