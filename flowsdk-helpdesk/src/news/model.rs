//! The events of the desk.

use std::time::Duration;

use flowsdk_core::id::{ChatId, MessageId, TicketId, UserId};
use flowsdk_core::message::{IncomingMessage, MessageStatus, StatusError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::PresenceStatus;
use crate::note::NoteView;
use crate::ticket::{CloseKind, Ticket, TicketView};

/// How long news are kept.
pub const KEPT_FOR: Duration = Duration::from_hours(24);

/// Messages of a contact whose ticket somebody has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TicketMessages {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The chat that has the messages.
    pub chat_id: ChatId,
    /// The messages, in order.
    pub messages: Vec<IncomingMessage>,
}

/// How far a message of an agent came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TicketMessageStatus {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The chat that has the message.
    pub chat_id: ChatId,
    /// The message.
    pub message_id: MessageId,
    /// `delivered`, `read`, `played` or `failed`.
    pub status: MessageStatus,
    /// Why it failed: the provider's code and text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<StatusError>,
}

/// What an agent is told.
#[derive(Debug, Clone, PartialEq)]
pub enum DeskEvent {
    /// It is theirs now.
    Assigned(Box<Ticket>),
    /// The contact wrote.
    Message(TicketMessages),
    /// A message of theirs came further, or failed.
    MessageStatus(TicketMessageStatus),
    /// Somebody else has written a note on it, or mentioned them in one.
    Note(NoteView),
    /// It goes on elsewhere: the ticket that they had, and the next one.
    Transferred(Box<Ticket>, TicketId),
    /// It ended.
    Closed(Box<Ticket>),
    /// Somebody else said whether they take tickets.
    Status(PresenceStatus),
}

impl DeskEvent {
    /// Returns what whoever has an ended ticket is told.
    pub fn of_end(ticket: &Ticket) -> Self {
        Self::Closed(Box::new(ticket.clone()))
    }

    /// Returns the name of the event on the socket.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Assigned(_) => "ticket:assigned",
            Self::Message(_) => "ticket:message",
            Self::MessageStatus(_) => "ticket:message-status",
            Self::Note(_) => "ticket:note",
            Self::Transferred(..) => "ticket:transferred",
            Self::Closed(ticket) if ticket.close_kind == Some(CloseKind::MetaWindowExpired) => {
                "ticket:window_expired"
            }
            Self::Closed(_) => "ticket:closed",
            Self::Status(_) => "agent:status",
        }
    }

    /// Returns the payload of the event, without its number and time.
    pub fn payload(&self) -> Map<String, Value> {
        let ticket = |ticket: &Ticket| json(&TicketView::from(ticket.clone()));
        match self {
            Self::Assigned(one) | Self::Closed(one) => {
                [("ticket".to_owned(), ticket(one))].into_iter().collect()
            }
            Self::Transferred(one, next) => {
                [("ticket".to_owned(), ticket(one)), ("nextTicketId".to_owned(), json(next))]
                    .into_iter()
                    .collect()
            }
            Self::Message(messages) => fields(messages),
            Self::MessageStatus(status) => fields(status),
            Self::Note(note) => [("note".to_owned(), json(note))].into_iter().collect(),
            Self::Status(status) => [("status".to_owned(), json(status))].into_iter().collect(),
        }
    }
}

fn fields(it: &impl Serialize) -> Map<String, Value> {
    match json(it) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn json(it: &impl Serialize) -> Value {
    serde_json::to_value(it).unwrap_or_else(|error| {
        tracing::error!(%error, "an event of the desk is not JSON");
        Value::Null
    })
}

/// An event for a user.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// Who is told.
    pub user: UserId,
    /// What they are told.
    pub event: DeskEvent,
    /// Names what they are told: of two news with the same key the first counts.
    pub key: Option<String>,
}

impl News {
    /// Returns news of which there is one.
    pub fn new(user: &UserId, event: DeskEvent) -> Self {
        Self { user: user.clone(), event, key: None }
    }

    /// Returns the news of whoever has a ticket that was given to them.
    pub fn of_assignment(ticket: &Ticket) -> Option<Self> {
        let user = ticket.assigned_user_id.as_ref()?;
        Some(Self::new(user, DeskEvent::Assigned(Box::new(ticket.clone()))))
    }

    /// Returns the news of whoever had a ticket that ended.
    pub fn of_end(ticket: &Ticket) -> Option<Self> {
        Some(Self::new(ticket.assigned_user_id.as_ref()?, DeskEvent::of_end(ticket)))
    }
}
