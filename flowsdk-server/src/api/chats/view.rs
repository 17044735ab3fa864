//! Chats and messages as clients see them.

use flowsdk_core::admin::chat::ChatMessage;
use flowsdk_core::chat::{Chat, ChatStatus};
use flowsdk_core::id::{ChatId, ContactId, MessageId, RouterId};
use flowsdk_core::media::MediaView;
use flowsdk_core::message::{Direction, Message, MessageStatus, StatusError};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The conversation of a contact with a router.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Chat)]
pub(super) struct ChatView {
    id: ChatId,
    contact_id: ContactId,
    /// Null on legacy chats.
    #[schema(required = true)]
    router_id: Option<RouterId>,
    status: ChatStatus,
    #[schema(required = true)]
    summary: Option<String>,
    created_at: IsoTime,
    /// Until when the contact can be answered freely: 24 hours after their last message by phone. Behind it they can be sent
    /// templates only. Null on the web chat, where there is no such time, and where they have not written.
    #[schema(required = true)]
    window_ends_at: Option<IsoTime>,
}

impl From<Chat> for ChatView {
    fn from(chat: Chat) -> Self {
        Self {
            id: chat.id,
            contact_id: chat.contact_id,
            router_id: chat.router_id,
            status: chat.status,
            summary: chat.summary,
            created_at: chat.created_at.into(),
            window_ends_at: chat.window_ends_at.map(IsoTime::from),
        }
    }
}

/// Who speaks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MessageSender)]
struct SenderView {
    /// `flow`, `ai` or `human`.
    kind: Value,
    #[schema(required = true)]
    name: Option<String>,
}

/// A message of a chat.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ChatMessage)]
pub(super) struct ChatMessageView {
    id: MessageId,
    /// Its place in the chat, from 1. The list is in this order.
    #[schema(minimum = 1, example = 7)]
    seq: i64,
    session_id: SessionId,
    direction: Direction,
    /// `text`, `interactive` and so on.
    #[schema(example = "text")]
    r#type: String,
    /// In the shape of its type. Beside the `id` of a file of this server there is a `link` to its content.
    #[schema(value_type = Object)]
    content: Value,
    /// The file that a message of the contact brought.
    #[schema(required = true)]
    media: Option<MediaView>,
    /// Null for the contact.
    #[schema(required = true)]
    sender: Option<SenderView>,
    /// Null for messages of the contact.
    #[schema(required = true)]
    status: Option<MessageStatus>,
    /// Why it failed.
    #[schema(required = true)]
    error: Option<MessageErrorView>,
    /// For people to read. Clocks of several processes differ, so it is no order.
    created_at: IsoTime,
    status_updated_at: IsoTime,
}

impl From<ChatMessage> for ChatMessageView {
    fn from(ChatMessage { message, media }: ChatMessage) -> Self {
        let sender = message.sender.map(|sender| SenderView {
            kind: serde_json::to_value(sender.kind).unwrap_or_default(),
            name: sender.name,
        });
        Self {
            id: message.id,
            seq: message.seq,
            session_id: message.session_id,
            direction: message.direction,
            r#type: message.kind,
            content: message.content,
            media: media.map(MediaView::from),
            sender,
            status: message.status,
            error: message.error.map(MessageErrorView::from),
            created_at: message.created_at.into(),
            status_updated_at: message.status_updated_at.into(),
        }
    }
}

/// The reason that the provider gave for a failure.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MessageError)]
struct MessageErrorView {
    /// Stable code of the provider.
    #[schema(example = 131_026)]
    code: i64,
    /// In the words of the provider.
    #[schema(required = true, example = "Message undeliverable")]
    title: Option<String>,
}

impl From<StatusError> for MessageErrorView {
    fn from(StatusError { code, title }: StatusError) -> Self {
        Self { code, title }
    }
}

// Spec A 2.5.
/// The delivery status of a message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Message)]
pub(super) struct MessageView {
    id: MessageId,
    /// Its place in the chat, from 1.
    #[schema(minimum = 1, example = 7)]
    seq: i64,
    /// Null for messages of the contact.
    #[schema(required = true)]
    status: Option<MessageStatus>,
    #[schema(example = "template")]
    r#type: String,
    /// The provider's id of a message to the contact, once the provider has taken it.
    #[schema(required = true)]
    whatsapp_message_id: Option<String>,
    /// Why it failed.
    #[schema(required = true)]
    error: Option<MessageErrorView>,
    created_at: IsoTime,
    status_updated_at: IsoTime,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id,
            seq: message.seq,
            status: message.status,
            r#type: message.kind,
            whatsapp_message_id: message.provider_id,
            error: message.error.map(MessageErrorView::from),
            created_at: message.created_at.into(),
            status_updated_at: message.status_updated_at.into(),
        }
    }
}
