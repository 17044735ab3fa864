//! Statuses of messages that were sent.

use flowsdk_core::event::DeliveryStatus;
use flowsdk_core::id::MessageId;
use flowsdk_core::message::StatusError;
use flowsdk_core::time::Timestamp;

use super::loose::{Fields, integer, object, objects, seconds, text};

/// A status of a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneStatus {
    /// The provider's id of the message.
    pub message_id: String,
    /// Our id of the message, which the provider echoes.
    pub internal_id: Option<MessageId>,
    /// How far it came.
    pub status: DeliveryStatus,
    /// When, as the provider says.
    pub at: Option<Timestamp>,
    /// The number or user id of the recipient.
    pub recipient: Option<String>,
    /// The reason of a failure.
    pub error: Option<StatusError>,
}

impl PhoneStatus {
    /// Reads a status; `None` of one that this version does not know, or that names no message.
    pub(super) fn read(fields: &Fields) -> Option<Self> {
        let status = match text(fields, "status")?.as_str() {
            "sent" => DeliveryStatus::Sent,
            "delivered" => DeliveryStatus::Delivered,
            "read" => DeliveryStatus::Read,
            "played" => DeliveryStatus::Played,
            "failed" => DeliveryStatus::Failed,
            _ => return None,
        };
        Some(Self {
            message_id: text(fields, "id")?,
            internal_id: text(fields, "biz_opaque_callback_data").and_then(|id| MessageId::parse(&id).ok()),
            status,
            at: seconds(fields, "timestamp"),
            recipient: text(fields, "recipient_id").or_else(|| text(fields, "recipient_user_id")),
            error: objects(fields, "errors").find_map(error),
        })
    }
}

/// Reads an error of the provider. The title is its words for people, the longest that there are.
fn error(fields: &Fields) -> Option<StatusError> {
    let details = object(fields, "error_data").and_then(|data| text(data, "details"));
    let title = details.or_else(|| text(fields, "title")).or_else(|| text(fields, "message"));
    Some(StatusError { code: integer(fields, "code")?, title })
}
