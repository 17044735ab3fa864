//! What the executor says of the ticket of an AI session (spec B 3.2, 4.9). The helpdesk owns the row.

use flowsdk_core::context::OpContext;
use flowsdk_core::event::{AgentNotice, AiTicketChange, AiTicketEnd, AiTicketEvent, HelpdeskEvent};
use flowsdk_core::id::TicketId;
use flowsdk_core::session::Session;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::topic::Helpdesk;
use flowsdk_core::time::Timestamp;

/// Opens the ticket of a session that has none yet: one a session, however many agents have it.
pub(super) fn open_ticket(cx: &OpContext, session: &mut Session) -> Option<NewEntry> {
    let state = session.agent.as_mut().filter(|state| state.ticket_id.is_none())?;
    state.ticket_id = Some(TicketId::generate(cx.ids()));
    let change = AiTicketChange::Created {
        contact_id: session.contact_id.clone(),
        agent_id: state.active_agent_id.clone(),
        epoch: session.epoch,
    };
    event(session, change, cx.now())
}

/// Says that another agent answers, or that the sentiment has another category.
pub(super) fn update_ticket(cx: &OpContext, session: &Session) -> Option<NewEntry> {
    let state = session.agent.as_ref()?;
    let change = AiTicketChange::Updated {
        agent_id: state.active_agent_id.clone(),
        sentiment: state.sentiment.clone(),
    };
    event(session, change, cx.now())
}

/// Closes the ticket of a session that its agents still have.
pub(super) fn close_ticket(
    cx: &OpContext,
    session: &Session,
    end: AiTicketEnd,
    reason: Option<String>,
) -> Option<NewEntry> {
    let state = session.agent.as_ref()?;
    let change = AiTicketChange::Closed {
        end,
        reason,
        sentiment: state.sentiment.clone(),
        sentiment_history: state.sentiment_history.clone(),
    };
    event(session, change, cx.now())
}

/// Closes the ticket of a session that was taken from its agents.
pub(super) fn close_lost_ticket(notice: &AgentNotice) -> Option<NewEntry> {
    let event = HelpdeskEvent::AiTicket(AiTicketEvent {
        session_id: notice.session_id.clone(),
        chat_id: notice.chat_id.clone(),
        ticket_id: notice.ticket_id.clone()?,
        router_id: notice.router_id.clone()?,
        change: AiTicketChange::Closed {
            end: AiTicketEnd::System,
            reason: None,
            sentiment: None,
            sentiment_history: Vec::new(),
        },
        contact_wrote_at: None,
        timestamp: notice.timestamp,
    });
    Some(NewEntry::of::<Helpdesk>(&event))
}

fn event(session: &Session, change: AiTicketChange, timestamp: Timestamp) -> Option<NewEntry> {
    let event = HelpdeskEvent::AiTicket(AiTicketEvent {
        session_id: session.id.clone(),
        chat_id: session.chat_id.clone(),
        ticket_id: session.agent.as_ref()?.ticket_id.clone()?,
        router_id: session.router_id.clone(),
        change,
        contact_wrote_at: Some(session.last_interaction_at),
        timestamp,
    });
    Some(NewEntry::of::<Helpdesk>(&event))
}
