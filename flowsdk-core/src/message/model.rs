//! The message row.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cell::Named;
use crate::id::{ChatId, MessageId};
use crate::message::{MessageStatus, StatusError};
use crate::schema::SchemaAttributes;
use crate::session::SessionId;
use crate::time::Timestamp;

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the contact.
    In,
    /// To the contact.
    Out,
}

/// The producer of an outgoing event (spec B 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The flow engine, or a campaign.
    Flow,
    /// A human or an AI agent.
    Agent,
    /// A single dispatch.
    Dispatch,
}

/// The speaker, as a visitor sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum SenderKind {
    /// The flow.
    Flow,
    /// An AI agent.
    Ai,
    /// A human agent.
    Human,
}

/// Kind and name of who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Sender {
    /// Flow, AI or human.
    pub kind: SenderKind,
    /// Name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<String>,
}

impl Sender {
    /// The flow speaks.
    pub const FLOW: Sender = Sender { kind: SenderKind::Flow, name: None };
}

/// A message that is not stored yet: its chat numbers it when it is.
pub type NewMessage = Message<()>;

/// A message row.
///
/// `N` is the type of its number: `()` for a [`NewMessage`].
#[derive(Debug, Clone, PartialEq)]
pub struct Message<N = i64> {
    /// Its id, `internalId` in stream events.
    pub id: MessageId,
    /// The chat it belongs to.
    pub chat_id: ChatId,
    /// Its place in the chat, from 1. The store gives it in the transaction that stores the message, so it is the
    /// order of the commits whatever the clocks of the writers say.
    pub seq: N,
    /// The session it was written in.
    pub session_id: SessionId,
    /// Which way it went.
    pub direction: Direction,
    /// `text`, `interactive`, ...
    pub kind: String,
    /// The phone-shaped content with its `type`.
    pub content: Value,
    /// The speaker; `None` for the contact.
    pub sender: Option<Sender>,
    /// How far an outgoing message came; `None` for incoming ones.
    pub status: Option<MessageStatus>,
    /// Key under which an incoming message is stored once.
    pub channel_message_id: Option<String>,
    /// The provider's id of an outgoing message, once it is known.
    pub provider_id: Option<String>,
    /// Why it failed.
    pub error: Option<StatusError>,
    /// When it was stored by the clock of its writer, for people to read. It orders nothing.
    pub created_at: Timestamp,
    /// When its status last changed.
    pub status_updated_at: Timestamp,
}

/// A page of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows, newest first.
    pub items: Vec<T>,
    /// The [`Message::seq`] before which the next page begins; `None` on the last.
    pub next: Option<i64>,
}
