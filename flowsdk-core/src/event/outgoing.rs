//! `stream:outgoing-phone`, `stream:outgoing-chat`, `stream:outgoing-social`.

use serde::{Deserialize, Serialize};

use crate::context::OpContext;
use crate::id::{ChatId, MessageId};
use crate::message::{
    ContentMessage, Direction, Message, MessageStatus, NewMessage, Sender, Source, TextBody,
};
use crate::session::SessionId;
use crate::time::Timestamp;

/// One message to a contact (spec B 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutgoingEvent {
    /// The id of the message row.
    pub internal_id: MessageId,
    /// The id of the session.
    pub session_id: SessionId,
    /// The number of the message in its chat ([`Message::seq`](crate::message::Message::seq)), set when it is stored;
    /// absent where there is no chat, and in events of producers that numbered nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// The chat; absent for replies to comments, which have none (spec B 4.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    /// The number, account or `wc-<channelId>` that sends.
    pub phone_number_id: String,
    /// The contact's address on the channel.
    pub to: String,
    /// The producer of the event.
    pub source: Source,
    /// The speaker, as a visitor sees it.
    pub sender: Sender,
    /// The content, with its `type`.
    #[serde(flatten)]
    pub content: ContentMessage,
    /// The owner epoch of the turn: dropped when the session has moved on (rulings S14).
    pub epoch: i64,
    /// When it was produced.
    pub timestamp: Timestamp,
    /// For how long the channel shows that somebody types before it shows the message, where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typing_ms: Option<u64>,
    /// Set when it answers a comment on the social channel (spec B 4.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ig_comment_target: Option<CommentTarget>,
}

impl OutgoingEvent {
    /// Returns a text for the contact of a session, in the name of the flow.
    pub fn text_of_flow(
        cx: &OpContext,
        session_id: SessionId,
        chat_id: ChatId,
        epoch: i64,
        text: String,
    ) -> Self {
        Self {
            internal_id: MessageId::generate(cx.ids()),
            seq: None,
            chat_id: Some(chat_id),
            phone_number_id: session_id.phone_number_id().to_owned(),
            to: session_id.party().to_owned(),
            session_id,
            source: Source::Flow,
            sender: Sender::FLOW,
            content: ContentMessage::Text { text: TextBody { body: text } },
            epoch,
            timestamp: cx.now(),
            typing_ms: None,
            ig_comment_target: None,
        }
    }

    /// Returns the message row of the event. It begins as `pending` (spec A 3.1), or as `sent` where the commit itself
    /// hands it over.
    pub fn to_message(&self, chat_id: &ChatId, status: MessageStatus) -> NewMessage {
        Message {
            id: self.internal_id.clone(),
            chat_id: chat_id.clone(),
            seq: (),
            session_id: self.session_id.clone(),
            direction: Direction::Out,
            kind: self.content.kind().to_owned(),
            content: serde_json::to_value(&self.content).unwrap_or_default(),
            sender: Some(self.sender.clone()),
            status: Some(status),
            channel_message_id: None,
            provider_id: None,
            error: None,
            created_at: self.timestamp,
            status_updated_at: self.timestamp,
        }
    }
}

/// The comment that an outgoing message answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentTarget {
    /// The provider's id of the comment.
    pub comment_id: String,
    /// In public or in private.
    pub mode: CommentMode,
}

/// How a comment is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommentMode {
    /// A direct message to its author.
    Private,
    /// A reply below it.
    Public,
}
