//! What webhooks of routers are told of: `stream:webhooks`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cell::Named;
use crate::contact::ContactDetails;
use crate::context::OpContext;
use crate::id::{ContactId, RouterId};
use crate::message::{Direction, NewMessage, StatusReached};
use crate::session::Session;
use crate::time::Timestamp;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Named)]
pub enum WebhookEventType {
    /// A conversation became a ticket.
    #[serde(rename = "ticket.opened")]
    TicketOpened,
    /// A user was given a ticket.
    #[serde(rename = "ticket.assigned")]
    TicketAssigned,
    /// A ticket changed in another way, such as its tags.
    #[serde(rename = "ticket.updated")]
    TicketUpdated,
    /// The time that a service level gives for a ticket is almost over.
    #[serde(rename = "ticket.service_level_warned")]
    TicketServiceLevelWarned,
    /// A ticket was not answered or resolved in the time of its service level.
    #[serde(rename = "ticket.service_level_breached")]
    TicketServiceLevelBreached,
    /// A ticket ended.
    #[serde(rename = "ticket.closed")]
    TicketClosed,
    /// A contact wrote.
    #[serde(rename = "message.received")]
    MessageReceived,
    /// A message to a contact was stored, to be sent.
    #[serde(rename = "message.sent")]
    MessageSent,
    /// A message to a contact came further, or failed.
    #[serde(rename = "message.status")]
    MessageStatus,
    /// A router came to know a contact: it was created for it, or wrote to it for the first time.
    #[serde(rename = "contact.created")]
    ContactCreated,
    /// A contact has another name, other variables or other identities.
    #[serde(rename = "contact.updated")]
    ContactUpdated,
    /// A contact was deleted, or became part of another one.
    #[serde(rename = "contact.deleted")]
    ContactDeleted,
    /// A session began.
    #[serde(rename = "session.started")]
    SessionStarted,
    /// A session has another owner: the flow, an AI agent or people.
    #[serde(rename = "session.owner_changed")]
    SessionOwnerChanged,
    /// A session ended by itself.
    #[serde(rename = "session.ended")]
    SessionEnded,
    /// Somebody tries a webhook. It goes to that webhook only.
    #[serde(rename = "webhook.test")]
    WebhookTest,
}

/// Something that happened, for the webhooks of its router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookEvent {
    /// Names the event. One that comes twice is delivered once.
    pub id: String,
    /// What happened.
    pub r#type: WebhookEventType,
    /// The router.
    pub router_id: RouterId,
    /// The conversation, or the contact: events of one are delivered in their order.
    pub key: String,
    /// When it happened.
    pub timestamp: Timestamp,
    /// What it happened to, in the shape of the API.
    pub data: Value,
}

/// Returns what happens when a message is stored.
pub(crate) fn type_of(message: &NewMessage) -> WebhookEventType {
    match message.direction {
        Direction::In => WebhookEventType::MessageReceived,
        Direction::Out => WebhookEventType::MessageSent,
    }
}

/// Returns what happened to a message of a router that was stored under this number of its chat.
pub(crate) fn of_message(
    kind: WebhookEventType,
    router: &RouterId,
    message: &NewMessage,
    seq: i64,
) -> WebhookEvent {
    WebhookEvent {
        // A message is stored once.
        id: format!("{}:{}", kind.name(), message.id),
        r#type: kind,
        router_id: router.clone(),
        key: message.chat_id.to_string(),
        timestamp: message.created_at,
        data: json!({ "message": {
            "id": message.id,
            "chatId": message.chat_id,
            "seq": seq,
            "sessionId": message.session_id,
            "direction": message.direction,
            "type": message.kind,
            "content": message.content,
            "sender": message.sender,
            "createdAt": message.created_at.to_iso(),
        } }),
    }
}

/// Returns how far a message of a router came, which was stored at `now`.
pub(crate) fn of_status(router: &RouterId, reached: &StatusReached, now: Timestamp) -> WebhookEvent {
    let kind = WebhookEventType::MessageStatus;
    WebhookEvent {
        // A message comes to each status once.
        id: format!("{}:{}:{}", kind.name(), reached.id, reached.status.name()),
        r#type: kind,
        router_id: router.clone(),
        key: reached.chat_id.to_string(),
        timestamp: now,
        data: json!({ "message": {
            "id": reached.id,
            "chatId": reached.chat_id,
            "seq": reached.seq,
            "sessionId": reached.session_id,
            "direction": Direction::Out,
            "status": reached.status,
            "statusUpdatedAt": reached.at.to_iso(),
            "error": reached.error,
        } }),
    }
}

/// Returns what happened to a contact that a router knows. One that is gone has its id alone.
pub fn of_contact(
    kind: WebhookEventType,
    cx: &OpContext,
    router: &RouterId,
    id: &ContactId,
    contact: Option<&ContactDetails>,
) -> WebhookEvent {
    WebhookEvent {
        id: cx.ids().next_id(),
        r#type: kind,
        router_id: router.clone(),
        key: id.to_string(),
        timestamp: cx.now(),
        data: json!({ "contact": contact.map_or_else(|| json!({ "id": id }), ContactDetails::to_json) }),
    }
}

/// Returns what happened to a session at `now`.
pub(crate) fn of_session(kind: WebhookEventType, session: &Session, now: Timestamp) -> WebhookEvent {
    WebhookEvent {
        // Each happens once an epoch.
        id: format!("{}:{}:{}", kind.name(), session.id, session.epoch),
        r#type: kind,
        router_id: session.router_id.clone(),
        key: session.chat_id.to_string(),
        timestamp: now,
        data: json!({ "session": {
            "id": session.id,
            "contactId": session.contact_id,
            "chatId": session.chat_id,
            "mode": session.mode,
            "startedAt": session.started_at.to_iso(),
        } }),
    }
}
