//! The events of the desk.

use std::time::Duration;

use flowsdk_core::cell::Named;
use flowsdk_core::id::{ChatId, MessageId, TicketId, UserId};
use flowsdk_core::message::{IncomingMessage, MessageStatus, StatusError};
use flowsdk_core::schema::SchemaAttributes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::PresenceStatus;
use crate::note::NoteView;
use crate::ticket::{
    CloseKind, SentimentView, ServiceChange, ServiceStatus, ServiceTarget, Ticket, TicketView,
};

/// How long news are kept.
pub const KEPT_FOR: Duration = Duration::from_hours(24);

/// The events that a desk is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Named)]
pub enum DeskEventKind {
    /// A ticket is theirs now.
    #[serde(rename = "ticket:assigned")]
    Assigned,
    /// A ticket is offered to them.
    #[serde(rename = "ticket:offered")]
    Offered,
    /// A ticket is offered to them no longer.
    #[serde(rename = "ticket:offer-ended")]
    OfferEnded,
    /// The contact of a ticket of theirs wrote.
    #[serde(rename = "ticket:message")]
    Message,
    /// A message of theirs came further, or failed.
    #[serde(rename = "ticket:message-status")]
    MessageStatus,
    /// Somebody else has written a note on a ticket of theirs, or mentioned them in one.
    #[serde(rename = "ticket:note")]
    Note,
    /// The service level of a ticket of theirs is about to be broken, or is.
    #[serde(rename = "ticket:service-level")]
    ServiceLevel,
    /// A ticket of theirs goes on elsewhere.
    #[serde(rename = "ticket:transferred")]
    Transferred,
    /// A ticket of theirs ended.
    #[serde(rename = "ticket:closed")]
    Closed,
    /// A ticket of theirs ended, because its contact can no longer be answered.
    #[serde(rename = "ticket:window_expired")]
    WindowExpired,
    /// How the contact of a ticket of theirs feels.
    #[serde(rename = "ticket:sentiment")]
    Sentiment,
    /// Somebody else said whether they take tickets.
    #[serde(rename = "agent:status")]
    Status,
    /// Who else looks at their ticket. It is no news: it is not kept.
    #[serde(rename = "ticket:viewing")]
    Viewing,
    /// How many tickets wait in their queues. It is no news: it is not kept.
    #[serde(rename = "helpdesk:waiting")]
    Waiting,
    /// What they have missed is gone, or they work in other queues than before. It is no news.
    #[serde(rename = "helpdesk:sync-required")]
    SyncRequired,
    /// The figures that they watch. It is no news.
    #[serde(rename = "monitoring:snapshot")]
    Snapshot,
}

/// A ticket that somebody got, or that ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketNews {
    /// The ticket as it is now.
    pub ticket: TicketView,
}

/// A ticket that goes on elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketTransferred {
    /// The ticket that they had.
    pub ticket: TicketView,
    /// The ticket with which it goes on.
    pub next_ticket_id: TicketId,
}

/// A ticket whose service level is about to be broken, or is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ServiceLevelNews {
    /// The ticket as it is now.
    pub ticket: TicketView,
    /// What was promised.
    pub target: ServiceTarget,
    /// `warned` or `breached`.
    pub status: ServiceStatus,
}

/// How the contact of a ticket feels, as an AI agent judged it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SentimentNews {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The chat of the ticket.
    pub chat_id: ChatId,
    /// The judgement.
    pub sentiment: SentimentView,
}

/// A note that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NoteNews {
    /// The note.
    pub note: NoteView,
}

/// Whether an agent takes tickets, as somebody else has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StatusNews {
    /// The presence that they have now.
    pub status: PresenceStatus,
}

/// Messages of a contact whose ticket somebody has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketMessages {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The chat that has the messages.
    pub chat_id: ChatId,
    /// The messages, in order.
    pub messages: Vec<IncomingMessage>,
}

/// How far a message of an agent came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
    #[schema(nullable = false)]
    pub error: Option<StatusError>,
}

/// What an agent is told.
#[derive(Debug, Clone, PartialEq)]
pub enum DeskEvent {
    /// It is theirs now.
    Assigned(Box<Ticket>),
    /// It is offered to them.
    Offered(Box<Ticket>),
    /// It is offered to them no longer.
    OfferEnded(Box<Ticket>),
    /// The contact wrote.
    Message(TicketMessages),
    /// A message of theirs came further, or failed.
    MessageStatus(TicketMessageStatus),
    /// Somebody else has written a note on it, or mentioned them in one.
    Note(NoteView),
    /// Its service level is about to be broken, or is.
    ServiceLevel(Box<Ticket>, ServiceChange),
    /// It goes on elsewhere: the ticket that they had, and the next one.
    Transferred(Box<Ticket>, TicketId),
    /// It ended.
    Closed(Box<Ticket>),
    /// How its contact feels.
    Sentiment(SentimentNews),
    /// Somebody else said whether they take tickets.
    Status(PresenceStatus),
}

impl DeskEvent {
    /// Returns what whoever has an ended ticket is told.
    pub fn of_end(ticket: &Ticket) -> Self {
        Self::Closed(Box::new(ticket.clone()))
    }

    /// Returns which event of the socket it is.
    pub fn kind(&self) -> DeskEventKind {
        match self {
            Self::Assigned(_) => DeskEventKind::Assigned,
            Self::Offered(_) => DeskEventKind::Offered,
            Self::OfferEnded(_) => DeskEventKind::OfferEnded,
            Self::Message(_) => DeskEventKind::Message,
            Self::MessageStatus(_) => DeskEventKind::MessageStatus,
            Self::Note(_) => DeskEventKind::Note,
            Self::ServiceLevel(..) => DeskEventKind::ServiceLevel,
            Self::Transferred(..) => DeskEventKind::Transferred,
            Self::Closed(ticket) if ticket.close_kind == Some(CloseKind::MetaWindowExpired) => {
                DeskEventKind::WindowExpired
            }
            Self::Closed(_) => DeskEventKind::Closed,
            Self::Sentiment(_) => DeskEventKind::Sentiment,
            Self::Status(_) => DeskEventKind::Status,
        }
    }

    /// Returns the name of the event on the socket.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Returns the payload of the event, without its number and time.
    pub fn payload(&self) -> Map<String, Value> {
        let ticket = |ticket: &Ticket| TicketView::from(ticket.clone());
        match self {
            Self::Assigned(one) | Self::Offered(one) | Self::OfferEnded(one) | Self::Closed(one) => {
                fields(&TicketNews { ticket: ticket(one) })
            }
            Self::ServiceLevel(one, change) => {
                let ServiceChange { target, status } = *change;
                fields(&ServiceLevelNews { ticket: ticket(one), target, status })
            }
            Self::Transferred(one, next) => {
                fields(&TicketTransferred { ticket: ticket(one), next_ticket_id: next.clone() })
            }
            Self::Message(messages) => fields(messages),
            Self::MessageStatus(status) => fields(status),
            Self::Note(note) => fields(&NoteNews { note: note.clone() }),
            Self::Sentiment(sentiment) => fields(sentiment),
            Self::Status(status) => fields(&StatusNews { status: *status }),
        }
    }
}

fn fields(it: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(it) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => Map::new(),
        Err(error) => {
            tracing::error!(%error, "an event of the desk is not JSON");
            Map::new()
        }
    }
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

    /// Returns the news of whoever is offered a ticket.
    pub fn of_offer(ticket: &Ticket) -> Option<Self> {
        Some(Self::new(ticket.offered_to()?, DeskEvent::Offered(Box::new(ticket.clone()))))
    }

    /// Returns the news of a user to whom a ticket is offered no longer.
    pub fn of_offer_end(user: &UserId, ticket: &Ticket) -> Self {
        Self::new(user, DeskEvent::OfferEnded(Box::new(ticket.clone())))
    }

    /// Returns the news of whoever has an open ticket, or is offered it, about its service level.
    pub fn of_service(ticket: &Ticket, change: ServiceChange) -> Option<Self> {
        let user = ticket.addressee().filter(|_| ticket.is_open())?;
        Some(Self::new(user, DeskEvent::ServiceLevel(Box::new(ticket.clone()), change)))
    }

    /// Returns the news of whoever has a ticket about the sentiment of its contact, if it was judged.
    pub fn of_sentiment(ticket: &Ticket) -> Option<Self> {
        let sentiment = ticket.sentiment_result.clone()?;
        let news = SentimentNews {
            ticket_id: ticket.id.clone(),
            chat_id: ticket.chat_id.clone(),
            sentiment: SentimentView::from(sentiment),
        };
        Some(Self::new(ticket.assigned_user_id.as_ref()?, DeskEvent::Sentiment(news)))
    }

    /// Returns the news of whoever had a ticket that ended, or was offered it.
    pub fn of_end(ticket: &Ticket) -> Option<Self> {
        Some(Self::new(ticket.addressee()?, DeskEvent::of_end(ticket)))
    }
}
