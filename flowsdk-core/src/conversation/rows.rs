//! The rows of messages.

use crate::event::OutgoingEvent;
use crate::id::{ChatId, MessageId};
use crate::message::{Direction, IncomingMessage, Message, MessageStatus, NewMessage};
use crate::session::SessionId;
use crate::time::Timestamp;

/// The row of an incoming message.
pub(super) fn incoming_row(
    id: MessageId,
    session: &SessionId,
    chat_id: &ChatId,
    message: &IncomingMessage,
    now: Timestamp,
) -> NewMessage {
    Message {
        id,
        chat_id: chat_id.clone(),
        seq: (),
        session_id: session.clone(),
        direction: Direction::In,
        kind: message.content.kind().to_owned(),
        content: message.as_stored(),
        sender: None,
        status: None,
        channel_message_id: Some(message.dedupe_key(session)),
        provider_id: None,
        error: None,
        created_at: now,
        status_updated_at: now,
    }
}

/// The row of an outgoing message. It begins as `pending` (spec A 3.1), or as `sent` where the commit
/// itself hands it over.
pub(super) fn outgoing_row(event: &OutgoingEvent, chat_id: &ChatId, status: MessageStatus) -> NewMessage {
    Message {
        id: event.internal_id.clone(),
        chat_id: chat_id.clone(),
        seq: (),
        session_id: event.session_id.clone(),
        direction: Direction::Out,
        kind: event.content.kind().to_owned(),
        content: serde_json::to_value(&event.content).unwrap_or_default(),
        sender: Some(event.sender.clone()),
        status: Some(status),
        channel_message_id: None,
        provider_id: None,
        error: None,
        created_at: event.timestamp,
        status_updated_at: event.timestamp,
    }
}
