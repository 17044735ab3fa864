//! The rows of messages.

use crate::id::{ChatId, MessageId};
use crate::message::{Direction, IncomingMessage, Message, NewMessage};
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
