//! What the web chat socket sends, and its history, as they go over the wire.

use flowsdk_core::cell::Named;
use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::message::{Direction, Message, MessageStatus, Sender, SenderKind};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::Mode;
use flowsdk_core::time::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::Value;

use super::model::WebchatChannel;

/// The events that a visitor's socket is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Named)]
#[serde(rename_all = "snake_case")]
pub enum ServerEvent {
    /// The visitor is let in.
    AuthOk,
    /// The visitor is not let in; the connection ends.
    AuthError,
    /// A message to the visitor.
    Message,
    /// An answer is being prepared.
    Typing,
    /// The session has another owner, or has ended.
    Session,
}

// Spec B 4.2.
/// A visitor who is let in. `sessionKey` is null for visitors with an embed token: the token is their key.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuthOk {
    /// Names the visitor in a later handshake.
    pub user_id: String,
    /// The visitor's key: shown once to a new visitor, echoed to a returning one.
    #[schema(required = true)]
    pub session_key: Option<String>,
    /// Name of the channel.
    pub channel_name: String,
    /// Colours, avatar, texts; passed to the page as it is.
    #[schema(required = true, value_type = Option<flowsdk_core::chat::Appearance>)]
    pub appearance: Option<Value>,
    /// What begins a session of the channel.
    pub start_on: StartOn,
    /// What may be sent beside texts; null is nothing.
    #[schema(required = true)]
    pub attachments: Option<Attachments>,
    /// Who has the session; null before it begins and after it has ended.
    #[schema(required = true)]
    pub mode: Option<Mode>,
    /// True in a test channel, where the page lets authors start over; absent in others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub is_test_channel: bool,
}

impl AuthOk {
    /// Lets a visitor into a channel whose session nobody has yet.
    pub(super) fn of(channel: &WebchatChannel, user_id: &str, session_key: Option<&SecretString>) -> Self {
        Self {
            user_id: user_id.to_owned(),
            session_key: session_key.map(|key| key.expose_secret().to_owned()),
            channel_name: channel.name.clone(),
            appearance: channel.appearance.clone(),
            start_on: channel.start_on,
            attachments: channel.attachments.clone(),
            mode: None,
            is_test_channel: channel.purpose.is_test(),
        }
    }
}

/// A visitor who is not let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AuthError)]
pub struct AuthErrorPayload {
    /// The text of the contract, always `erro interno`.
    #[schema(example = "erro interno")]
    pub message: &'static str,
    /// By which a page can decide: `channel_unknown`, `identity_invalid`, `token_invalid`, `token_expired`, `origin_refused`,
    /// `rate_limited` or `unavailable`.
    #[schema(example = "token_expired")]
    pub code: &'static str,
}

/// A message to a visitor: `{ id, chatId, seq, type, <type>: {..}, timestamp, sender }`.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ServerMessage {
    /// Id of the message.
    pub id: MessageId,
    /// `type` and its node.
    #[serde(flatten)]
    #[schema(value_type = flowsdk_core::schema::FlowMessage)]
    pub content: Value,
    /// The chat that numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub chat_id: Option<ChatId>,
    /// Its place in the chat: messages are shown in this order. Absent only in an event that an older process published.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, example = 7)]
    pub seq: Option<i64>,
    /// When it was produced by the clock of its writer, epoch milliseconds. It orders nothing.
    #[schema(value_type = i64, example = 1_795_313_588_134_i64)]
    pub timestamp: Timestamp,
    /// The sender of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sender: Option<Sender>,
}

impl From<&OutgoingEvent> for ServerMessage {
    fn from(event: &OutgoingEvent) -> Self {
        Self {
            id: event.internal_id.clone(),
            content: serde_json::to_value(&event.content).unwrap_or_default(),
            chat_id: event.chat_id.clone(),
            seq: event.seq,
            timestamp: event.timestamp,
            sender: Some(event.sender.clone()),
        }
    }
}

impl From<Message> for ServerMessage {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            content: message.content,
            chat_id: Some(message.chat_id),
            seq: Some(message.seq),
            timestamp: message.created_at,
            sender: message.sender,
        }
    }
}

/// An answer that is being prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Typing {
    /// Who prepares it.
    pub kind: SenderKind,
    /// For at most as many milliseconds.
    #[schema(maximum = 60_000, example = 3_000)]
    pub ms: u64,
}

/// The owner of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionOwner {
    /// Who has it now; null once it has ended.
    #[schema(required = true)]
    pub mode: Option<Mode>,
}

/// What a socket is told beside its messages: the payload of the event of this [`name`](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ServerNotice {
    /// An answer is being prepared.
    Typing(Typing),
    /// The session has another owner.
    Session(SessionOwner),
}

impl ServerNotice {
    /// The name of the event.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Typing(_) => ServerEvent::Typing.name(),
            Self::Session(_) => ServerEvent::Session.name(),
        }
    }
}

/// An item of `GET /webchat/history`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryItem {
    /// The message as the socket sends it.
    #[serde(flatten)]
    pub message: ServerMessage,
    /// `in` from the visitor, `out` to the visitor.
    pub direction: Direction,
    /// The delivery status of an outgoing message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<MessageStatus>,
}

impl From<Message> for HistoryItem {
    fn from(message: Message) -> Self {
        Self { direction: message.direction, status: message.status, message: message.into() }
    }
}

/// The ack of `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StartAck {
    /// Always `true`: only a taken event has this ack.
    #[schema(schema_with = flowsdk_core::schema::taken)]
    pub ok: bool,
}

/// The ack of `message`, `message_interactive` and `message_media`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MessageAck {
    /// Always `true`: only accepted messages have this ack.
    #[schema(schema_with = flowsdk_core::schema::taken)]
    pub ok: bool,
    /// Id of the stored message; of the first one, when it came twice.
    pub message_id: MessageId,
}
