//! `stream:helpdesk`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cell::Named;
use crate::contact::Contact;
use crate::id::{AgentId, ChatId, ContactId, MessageId, QueueId, RouterId, TicketId, UserId};
use crate::message::{IncomingMessage, MessageStatus, StatusError};
use crate::session::{SentimentItem, Session, SessionId};
use crate::time::Timestamp;

/// An event for the helpdesk (spec B 4.7, 6), discriminated by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HelpdeskEvent {
    /// A session asks for a human.
    Handoff(HandoffEvent),
    /// The contact wrote while a human has the session.
    Message(HelpdeskMessageEvent),
    /// A message that people have sent came further, or failed.
    MessageStatus(SentMessageEvent),
    /// The ticket of an AI session was opened, changed or closed.
    AiTicket(AiTicketEvent),
}

impl HelpdeskEvent {
    /// The session it is about.
    pub fn session_id(&self) -> &SessionId {
        match self {
            Self::Handoff(event) => &event.session_id,
            Self::Message(event) => &event.session_id,
            Self::MessageStatus(event) => &event.session_id,
            Self::AiTicket(event) => &event.session_id,
        }
    }
}

/// A session asks for a human (spec B 4.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The number, account or `wc-<channelId>` that serves it.
    pub phone_number_id: String,
    /// The id of the router.
    pub router_id: RouterId,
    /// The contact, as known at the handoff.
    pub contact: HandoffContact,
    /// The session's variables at the handoff; distribution rules read them as `context`.
    pub context_variables: Map<String, Value>,
    /// The queue to use instead of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset_queue_id: Option<QueueId>,
    /// The user who gets the ticket at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset_user_id: Option<UserId>,
    /// The AI ticket of the agent that hands over: the chain goes on from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ai_ticket_id: Option<TicketId>,
    /// The customer's last sentiment, as that agent judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<SentimentResult>,
    /// The user of the desk who has asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<UserId>,
    /// The session's `epoch` with this owner (rulings S14); a hand-back carries it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i64>,
    /// When it was asked for.
    pub timestamp: Timestamp,
}

/// The contact of a handoff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct HandoffContact {
    /// The id of the contact.
    pub id: ContactId,
    pub name: String,
    /// Its identity on the channel (spec A 2.4).
    pub phone_number: String,
    /// Its variables; distribution rules read them as `contact`.
    pub variables: Map<String, Value>,
}

/// Messages of a contact whose session a human has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HelpdeskMessageEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The id of the router.
    pub router_id: RouterId,
    /// The messages, in order.
    pub messages: Vec<IncomingMessage>,
    /// When they were stored.
    pub timestamp: Timestamp,
}

/// How far a message came that people have sent (spec B 4.8, 6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentMessageEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the message.
    pub message_id: MessageId,
    /// `delivered`, `read`, `played` or `failed`.
    pub status: MessageStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StatusError>,
    /// Whether it failed because the contact can no longer be answered freely (spec B 3.2; rulings C1).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window_expired: bool,
    /// When that was.
    pub timestamp: Timestamp,
}

impl HandoffEvent {
    /// Returns the handoff of a session that people have, with its variables as they are now.
    pub fn of(session: &Session, contact: &Contact, timestamp: Timestamp) -> Self {
        Self {
            session_id: session.id.clone(),
            chat_id: session.chat_id.clone(),
            phone_number_id: session.id.phone_number_id().to_owned(),
            router_id: session.router_id.clone(),
            contact: HandoffContact {
                id: contact.id.clone(),
                name: contact.name.clone(),
                phone_number: contact.phone_number.clone(),
                variables: contact.variables.clone(),
            },
            context_variables: session.variables.clone(),
            preset_queue_id: None,
            preset_user_id: None,
            ai_ticket_id: None,
            sentiment: None,
            requested_by: None,
            epoch: Some(session.epoch),
            timestamp,
        }
    }
}

/// What happened to the ticket of an AI session (spec B 3.2, 4.9). The helpdesk owns the row; the executor names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AiTicketEvent {
    /// The id of the session.
    pub session_id: SessionId,
    /// The id of the chat.
    pub chat_id: ChatId,
    /// The id of the ticket.
    pub ticket_id: TicketId,
    /// The id of the router.
    pub router_id: RouterId,
    /// What happened to it.
    #[serde(flatten)]
    pub change: AiTicketChange,
    /// When the contact last wrote, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_wrote_at: Option<Timestamp>,
    /// When that was.
    pub timestamp: Timestamp,
}

impl AiTicketEvent {
    /// Returns whether it opens the ticket.
    pub fn opens(&self) -> bool {
        matches!(self.change, AiTicketChange::Created { .. })
    }
}

/// A change of the ticket of an AI session, discriminated by `state`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum AiTicketChange {
    /// Agents have the session now.
    Created {
        /// The contact of the session.
        contact_id: ContactId,
        /// The agent that answers.
        agent_id: AgentId,
        /// The session's `epoch` while its agents have it (rulings S14).
        epoch: i64,
    },
    /// Another agent answers, or the customer's sentiment has another category.
    Updated {
        /// The agent that answers.
        agent_id: AgentId,
        /// The customer's sentiment, where it was judged.
        #[serde(default, rename = "sentimentResult", skip_serializing_if = "Option::is_none")]
        sentiment: Option<SentimentResult>,
    },
    /// The agents' part is over.
    Closed {
        /// How it ended.
        end: AiTicketEnd,
        /// Why, in the words of the agent; else the reason that the flow is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The last sentiment.
        #[serde(default, rename = "sentimentResult", skip_serializing_if = "Option::is_none")]
        sentiment: Option<SentimentResult>,
        /// The sentiments of all turns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sentiment_history: Vec<SentimentItem>,
    },
}

/// How the agents' part of a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AiTicketEnd {
    /// The root agent ended it: the flow goes on.
    Resolved,
    /// People have the session, or it was taken from the agents.
    System,
}

/// A customer's sentiment with what shows it (tool `updateSentiment`, spec B 4.9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentimentResult {
    /// The category, and how strong it is.
    #[serde(flatten)]
    pub item: SentimentItem,
    /// The words of the customer that show it.
    #[serde(default)]
    pub signals: Vec<String>,
    /// Whether a human should look soon.
    #[serde(default)]
    pub escalation_risk: bool,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A customer's sentiment as an AI agent judges it by its tool `updateSentiment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum Sentiment {
    /// The customer is content.
    Positive,
    /// Neither positive nor negative.
    Neutral,
    /// The customer does not get on.
    Frustrated,
    /// The customer is angry.
    Angry,
    /// The customer is in a hurry.
    Urgent,
    /// The customer does not understand.
    Confused,
}
