//! The payloads of the web chat socket and of its history, as they go over the wire.

use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::id::{ChatId, MessageId};
use flowsdk_core::message::{Direction, Message, MessageStatus, Sender, SenderKind};
use flowsdk_core::session::Mode;
use flowsdk_core::time::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde_json::Value;

use super::model::WebchatChannel;

/// `auth_ok` (spec B 4.2). `sessionKey` is `null` for visitors with an embed token: the token is
/// their key.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthOk {
    /// Names the visitor in a later handshake.
    pub user_id: String,
    /// The visitor's key: shown once to a new visitor, echoed to a returning one.
    pub session_key: Option<String>,
    /// Name of the channel.
    pub channel_name: String,
    /// Colours, avatar, texts; passed to the page as it is.
    pub appearance: Option<Value>,
    /// What begins a session of the channel.
    pub start_on: StartOn,
    /// What may be sent beside texts; `None` is nothing.
    pub attachments: Option<Attachments>,
    /// Who has the session; `None` before it begins and after it has ended.
    pub mode: Option<Mode>,
    /// True in a test channel, where the page lets authors start over; absent in others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
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

/// The payload of `auth_error`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuthErrorPayload {
    /// The text of the contract, always `erro interno`.
    pub message: &'static str,
    /// By which a page can decide.
    pub code: &'static str,
}

/// `message` from the server: `{ id, chatId, seq, type, <type>: {..}, timestamp, sender }`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerMessage {
    /// Id of the message.
    pub id: MessageId,
    /// `type` and its node.
    #[serde(flatten)]
    pub content: Value,
    /// The chat that numbers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    /// Its place in the chat: messages are shown in this order. Absent only in an event that an older process published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// When it was produced by the clock of its writer, epoch milliseconds. It orders nothing.
    pub timestamp: Timestamp,
    /// The sender of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// What a socket is told beside its messages: the payload of the event of this [`name`](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ServerNotice {
    /// An answer is being prepared.
    Typing {
        /// Who prepares it.
        kind: SenderKind,
        /// For at most as many milliseconds.
        ms: u64,
    },
    /// The session has another owner.
    Session {
        /// The owner; `None` once the session has ended.
        mode: Option<Mode>,
    },
}

impl ServerNotice {
    /// The name of the event.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Typing { .. } => "typing",
            Self::Session { .. } => "session",
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StartAck {
    /// Always `true`: only a taken event has this ack.
    pub ok: bool,
}

/// The ack of `message` and `message_interactive`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageAck {
    /// Always `true`: only accepted messages have this ack.
    pub ok: bool,
    /// Id of the stored message; of the first one, when it came twice.
    pub message_id: MessageId,
}
