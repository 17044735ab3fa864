//! The ticket.

use flowsdk_core::cell::Named;
use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::event::SentimentResult;
use flowsdk_core::id::{AgentId, ChatId, ContactId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::page::Cursor;
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::{SentimentItem, SessionId};
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AskedSurvey, AskedSurveyView, SentimentItemView, SentimentView, ServiceClocks, ServiceClocksView,
};
use crate::tag::TagId;

/// Who works a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum TicketKind {
    /// People.
    Human,
    /// An AI agent.
    Ai,
}

/// How far a ticket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum TicketStatus {
    /// Nobody has it yet.
    Waiting,
    /// Somebody works it.
    Assigned,
    /// It is over.
    Closed,
}

/// Who opened a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum OpenedByKind {
    /// A flow that handed over.
    Flow,
    /// A user who transferred the ticket before.
    Agent,
    /// The server.
    System,
    /// An AI agent.
    AiAgent,
}

/// Why a ticket was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum OpenReason {
    /// The conversation was handed to people.
    HumanHandoff,
    /// The ticket before was transferred to a user.
    AgentTransfer,
    /// The ticket before was transferred to a queue.
    QueueTransfer,
    /// An AI agent has the conversation.
    AiSession,
}

/// How a ticket ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum CloseKind {
    /// Whoever had it closed it.
    Resolved,
    /// It goes on as a ticket of another user.
    AgentTransfer,
    /// It goes on as a ticket of another queue.
    QueueTransfer,
    /// Another handoff of the chat came.
    HandoffReplaced,
    /// The server closed it: its session or its queue is gone.
    System,
    /// The contact can no longer be answered.
    MetaWindowExpired,
    /// The contact waited in silence for too long.
    Abandoned,
}

/// A ticket: one stretch of attendance. Every handoff and transfer opens another one; `previous_ticket_id` chains them.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the view says it")]
pub struct Ticket {
    pub id: TicketId,
    pub kind: TicketKind,
    pub router_id: RouterId,
    pub chat_id: ChatId,
    pub contact_id: ContactId,
    pub session_id: Option<SessionId>,
    pub previous_ticket_id: Option<TicketId>,
    /// That of people; tickets of AI agents have none.
    pub queue_id: Option<QueueId>,
    /// The AI agent that has it, or had it last.
    pub agent_id: Option<AgentId>,
    pub status: TicketStatus,
    pub assigned_user_id: Option<UserId>,
    pub assigned_at: Option<Timestamp>,
    /// To whom it is offered, or was when it was closed.
    pub offered_user_id: Option<UserId>,
    /// When the offer ends; nothing of a ticket that does not wait.
    pub offer_ends_at: Option<Timestamp>,
    /// Who has not taken an offer of it lately.
    pub passed_by: Vec<Pass>,
    pub opened_by_kind: OpenedByKind,
    pub open_reason: OpenReason,
    pub opened_by_user_id: Option<UserId>,
    pub closed_at: Option<Timestamp>,
    pub closed_by_user_id: Option<UserId>,
    pub close_kind: Option<CloseKind>,
    pub close_reason: Option<String>,
    pub summary: Option<String>,
    pub sentiment_result: Option<SentimentResult>,
    pub sentiment_history: Vec<SentimentItem>,
    pub tag_ids: Vec<TagId>,
    /// When whoever has it first answered.
    pub first_replied_at: Option<Timestamp>,
    /// What the service level of its queue promised.
    pub service_clocks: ServiceClocks,
    /// When one of its clocks runs out next; that of [`ServiceClocks::next_at`].
    pub service_next_at: Option<Timestamp>,
    /// What its contact was asked after it was resolved.
    pub survey: Option<AskedSurvey>,
    /// Until when an answer to the survey is waited for; nothing while none is. The flow goes on afterwards.
    pub survey_ends_at: Option<Timestamp>,
    /// The session's owner epoch (rulings S14); what the ticket says counts while the session has it.
    pub epoch: Option<i64>,
    /// When its agents were asked to hand it to people; nothing of a ticket of people.
    pub handoff_asked_at: Option<Timestamp>,
    /// When the contact last wrote, as far as this ticket knows: never before it was opened.
    pub contact_wrote_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An agent who has declined an offer of a ticket, or let it end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The agent's user.
    pub user: UserId,
    /// Until when the ticket is not offered to them again.
    pub until: Timestamp,
}

impl Ticket {
    /// Returns a ticket for people that a flow opens. It waits in a queue, of no session yet.
    pub fn opened(
        id: TicketId,
        router_id: RouterId,
        of: (ChatId, ContactId),
        queue_id: QueueId,
        now: Timestamp,
    ) -> Self {
        Self { queue_id: Some(queue_id), ..Self::of_no_queue(id, router_id, of, now) }
    }

    pub(super) fn of_no_queue(
        id: TicketId,
        router_id: RouterId,
        (chat_id, contact_id): (ChatId, ContactId),
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            kind: TicketKind::Human,
            router_id,
            chat_id,
            contact_id,
            session_id: None,
            previous_ticket_id: None,
            queue_id: None,
            agent_id: None,
            status: TicketStatus::Waiting,
            assigned_user_id: None,
            assigned_at: None,
            offered_user_id: None,
            offer_ends_at: None,
            passed_by: Vec::new(),
            opened_by_kind: OpenedByKind::Flow,
            open_reason: OpenReason::HumanHandoff,
            opened_by_user_id: None,
            closed_at: None,
            closed_by_user_id: None,
            close_kind: None,
            close_reason: None,
            summary: None,
            sentiment_result: None,
            sentiment_history: Vec::new(),
            tag_ids: Vec::new(),
            first_replied_at: None,
            service_clocks: ServiceClocks::default(),
            service_next_at: None,
            survey: None,
            survey_ends_at: None,
            epoch: None,
            handoff_asked_at: None,
            contact_wrote_at: now,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns its place in lists.
    pub fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }

    /// Returns whether it waits or is worked.
    pub fn is_open(&self) -> bool {
        self.status != TicketStatus::Closed
    }
}

impl Recorded for Ticket {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Ticket, id: self.id.as_str(), router_id: Some(&self.router_id) }
    }

    fn to_json(&self) -> Value {
        public_json(&TicketView::from(self.clone()))
    }
}

/// A ticket.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Ticket)]
pub struct TicketView {
    /// The id of the ticket.
    pub id: TicketId,
    /// Who works it.
    pub kind: TicketKind,
    /// The router of the conversation.
    pub router_id: RouterId,
    /// The chat of the conversation.
    pub chat_id: ChatId,
    /// The contact of the conversation.
    pub contact_id: ContactId,
    /// The session that goes on when the ticket closes.
    #[schema(required = true)]
    pub session_id: Option<SessionId>,
    /// The ticket before it in the chain.
    #[schema(required = true)]
    pub previous_ticket_id: Option<TicketId>,
    /// The queue that it waits in, or was assigned from. The queue may be gone; null for a ticket of AI agents.
    #[schema(required = true)]
    pub queue_id: Option<QueueId>,
    /// The AI agent that has it, or had it last; null for a ticket of people.
    #[schema(required = true)]
    pub agent_id: Option<AgentId>,
    /// How far it is.
    pub status: TicketStatus,
    /// The user who has it, or had it last; null while it waits.
    #[schema(required = true)]
    pub assigned_user_id: Option<UserId>,
    /// When they got it.
    #[schema(required = true)]
    pub assigned_at: Option<IsoTime>,
    /// The user to whom it is offered while it waits: they accept or decline it.
    #[schema(required = true)]
    pub offered_user_id: Option<UserId>,
    /// When the offer ends, and the next user is asked.
    #[schema(required = true)]
    pub offer_ends_at: Option<IsoTime>,
    /// Who opened it.
    pub opened_by_kind: OpenedByKind,
    /// Why it was opened.
    pub open_reason: OpenReason,
    /// The user who opened it by a transfer.
    #[schema(required = true)]
    pub opened_by_user_id: Option<UserId>,
    /// When it was closed.
    #[schema(required = true)]
    pub closed_at: Option<IsoTime>,
    /// The user who closed it.
    #[schema(required = true)]
    pub closed_by_user_id: Option<UserId>,
    /// How it ended.
    #[schema(required = true)]
    pub close_kind: Option<CloseKind>,
    /// Why it was closed, in the words of whoever closed it.
    #[schema(required = true)]
    pub close_reason: Option<String>,
    /// A summary of the conversation.
    #[schema(required = true)]
    pub summary: Option<String>,
    /// The contact's last sentiment, as an AI agent judged it, or a model that somebody asked. A ticket that follows from it
    /// begins with it.
    #[schema(required = true)]
    pub sentiment_result: Option<SentimentView>,
    /// Sentiments, the oldest first, at most 100: those that somebody asked for, and those of all turns of AI agents, once
    /// their ticket is closed.
    pub sentiment_history: Vec<SentimentItemView>,
    /// Its tags; a ticket that was transferred hands them on.
    pub tag_ids: Vec<TagId>,
    /// When whoever has it first answered.
    #[schema(required = true)]
    pub first_replied_at: Option<IsoTime>,
    /// What the service level of its queue promised; null is nothing.
    #[schema(required = true)]
    pub service: Option<ServiceClocksView>,
    /// What its contact said to the survey of its queue; null if they were asked nothing.
    #[schema(required = true)]
    pub survey: Option<AskedSurveyView>,
    /// When the AI agents were asked to hand it to people; null if nobody has asked, and for a ticket of people.
    #[schema(required = true)]
    pub handoff_asked_at: Option<IsoTime>,
    /// When the contact last wrote, at the earliest when the ticket was opened. While AI agents have it, as of its last
    /// change.
    pub contact_wrote_at: IsoTime,
    /// When it was opened.
    pub created_at: IsoTime,
    /// When it was last changed.
    pub updated_at: IsoTime,
}

impl From<Ticket> for TicketView {
    fn from(ticket: Ticket) -> Self {
        let offer = ticket.offered_to().cloned().zip(ticket.offer_ends_at);
        let (offered_user_id, offer_ends_at) = offer.unzip();
        Self {
            id: ticket.id,
            kind: ticket.kind,
            router_id: ticket.router_id,
            chat_id: ticket.chat_id,
            contact_id: ticket.contact_id,
            session_id: ticket.session_id,
            previous_ticket_id: ticket.previous_ticket_id,
            queue_id: ticket.queue_id,
            agent_id: ticket.agent_id,
            status: ticket.status,
            assigned_user_id: ticket.assigned_user_id,
            assigned_at: ticket.assigned_at.map(IsoTime),
            offered_user_id,
            offer_ends_at: offer_ends_at.map(IsoTime),
            opened_by_kind: ticket.opened_by_kind,
            open_reason: ticket.open_reason,
            opened_by_user_id: ticket.opened_by_user_id,
            closed_at: ticket.closed_at.map(IsoTime),
            closed_by_user_id: ticket.closed_by_user_id,
            close_kind: ticket.close_kind,
            close_reason: ticket.close_reason,
            summary: ticket.summary,
            sentiment_result: ticket.sentiment_result.map(SentimentView::from),
            sentiment_history: ticket.sentiment_history.into_iter().map(SentimentItemView::from).collect(),
            tag_ids: ticket.tag_ids,
            first_replied_at: ticket.first_replied_at.map(IsoTime),
            service: ticket.service_clocks.view(),
            survey: ticket.survey.map(AskedSurveyView::from),
            handoff_asked_at: ticket.handoff_asked_at.map(IsoTime),
            contact_wrote_at: IsoTime(ticket.contact_wrote_at),
            created_at: IsoTime(ticket.created_at),
            updated_at: IsoTime(ticket.updated_at),
        }
    }
}

/// Which tickets are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TicketFilter {
    /// Of this router.
    pub router_id: Option<RouterId>,
    /// In this state.
    pub status: Option<TicketStatus>,
    /// Of this queue.
    pub queue_id: Option<QueueId>,
    /// Of this user.
    pub assigned_user_id: Option<UserId>,
    /// Of this chat: its chain.
    pub chat_id: Option<ChatId>,
}

impl Reachable for TicketFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}
