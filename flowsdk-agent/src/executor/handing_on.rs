//! How the agents' part ends, and how it goes from one agent to another (spec B 3.3, 3.4).

use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::publish_ahead;
use flowsdk_core::event::{
    AgentStreamEvent, AiTicketEnd, FlowEvent, HandBack, HandoffEvent, HelpdeskEvent, NoticeKind,
    OutgoingEvent,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{AgentId, QueueId, UserId};
use flowsdk_core::message::SenderKind;
use flowsdk_core::session::{ChainEntry, Mode, Session};
use flowsdk_core::stream::announce::announce_owner;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::topic::Helpdesk;
use flowsdk_core::time::Timestamp;

use super::ExecutorTx;
use super::ticket::{close_ticket, update_ticket};

/// How long a contact sees that an answer is being prepared, unless it comes before.
const TYPING_LASTS: Duration = Duration::from_secs(30);

/// Most agents that have a conversation at once, the one that answers among them.
pub(super) const DEEPEST_CHAIN: usize = 10;

/// What a transaction sends: messages to the contact, what their socket is told beside them, and events to other parts.
#[derive(Default)]
pub(super) struct Handing {
    pub(super) said: Vec<OutgoingEvent>,
    pub(super) notices: Vec<NoticeKind>,
    pub(super) entries: Vec<NewEntry>,
    /// The turn of the agent that goes on.
    pub(super) passed_on: Option<AgentStreamEvent>,
    /// Whether the agents have given the session away. What they said before stands, whoever has it by then.
    pub(super) is_given_away: bool,
}

impl Handing {
    /// The contact sees for a while that an answer is being prepared.
    pub(super) fn show_typing(&mut self, now: Timestamp) {
        self.notices.push(NoticeKind::typing(SenderKind::Ai, now, now + TYPING_LASTS));
    }
}

/// Ends the agents' part: the flow goes on with the reason, before everything that comes to the session after the commit.
pub(super) async fn end_by_force<T: ExecutorTx>(
    tx: &mut T,
    cx: &OpContext,
    session: &Session,
    reason: &str,
) -> Result<(), StorageError> {
    let closed = close_ticket(cx, session, AiTicketEnd::Resolved, Some(reason.to_owned()));
    if let Some(closed) = closed {
        tx.outbox().push_many(&[closed]).await?;
    }
    let event = HandBack {
        session_id: session.id.clone(),
        chat_id: session.chat_id.clone(),
        to: session.id.party().to_owned(),
        phone_number_id: session.id.phone_number_id().to_owned(),
        jump_target: None,
        agent_end_reason: Some(reason.to_owned()),
        ticket: None,
        handoff_deflect: None,
        epoch: Some(session.epoch),
        timestamp: cx.now(),
    };
    publish_ahead(tx, FlowEvent::AgentSessionEnded(event)).await
}

/// How people get a session.
#[derive(Debug, Default)]
pub(super) struct Handoff {
    /// Why.
    pub(super) reason: Option<String>,
    /// The queue to use instead of the rules.
    pub(super) queue: Option<QueueId>,
    /// The user who gets the ticket at once.
    pub(super) user: Option<UserId>,
    /// The user of the desk who has asked for it.
    pub(super) requested_by: Option<UserId>,
}

/// Hands the session to people.
pub(super) async fn hand_to_human<T: ExecutorTx>(
    tx: &mut T,
    cx: &OpContext,
    session: &mut Session,
    asked: Handoff,
    handing: &mut Handing,
) -> Result<(), StorageError> {
    let Handoff { reason, queue, user, requested_by } = asked;
    let of = std::slice::from_ref(&session.contact_id);
    let contact = tx.contacts().find_many_for_update(of).await?.pop();
    let contact = contact.ok_or(StorageError::Stale { entity: "contact" })?;
    match &reason {
        Some(reason) => {
            session.variables.insert("agentHandoffReason".to_owned(), reason.as_str().into());
        }
        None => {
            session.variables.remove("agentHandoffReason");
        }
    }
    handing.entries.extend(close_ticket(cx, session, AiTicketEnd::System, reason));
    let state = session.agent.take();
    session.give_to(Mode::Human);
    session.arm(cx.now());
    let (ai_ticket_id, sentiment) = match state {
        Some(state) => (state.ticket_id, state.sentiment),
        None => (None, None),
    };
    let event = HandoffEvent {
        preset_queue_id: queue,
        preset_user_id: user,
        ai_ticket_id,
        sentiment,
        requested_by,
        ..HandoffEvent::of(session, &contact, cx.now())
    };
    handing.entries.push(NewEntry::of::<Helpdesk>(&HelpdeskEvent::Handoff(event)));
    handing.notices.push(NoticeKind::Session { mode: Some(Mode::Human) });
    handing.is_given_away = true;
    announce_owner(tx.outbox(), session, cx.now()).await
}

/// Why an agent does not get the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoTransfer {
    #[error("transfer aborted: there is no such agent")]
    Unknown,
    #[error("transfer aborted: the agent has the conversation already")]
    Circle,
    #[error("transfer aborted: too many agents have the conversation")]
    TooDeep,
}

/// Checks whether the conversation may go to an agent.
pub(super) fn check_transfer(session: &Session, to: &AgentId) -> Result<(), NoTransfer> {
    let chain = session.agent.as_ref().map(|state| state.agent_chain.as_slice()).unwrap_or_default();
    if chain.iter().any(|entry| entry.agent_id == *to) {
        return Err(NoTransfer::Circle);
    }
    if chain.len() >= DEEPEST_CHAIN { Err(NoTransfer::TooDeep) } else { Ok(()) }
}

/// Hands the conversation to another agent, which has been checked.
pub(super) fn hand_to_agent(
    cx: &OpContext,
    session: &mut Session,
    entry: ChainEntry,
    (context, last_input): (String, String),
    handing: &mut Handing,
) {
    let to = entry.agent_id.clone();
    if let Some(state) = &mut session.agent {
        state.agent_chain.push(entry);
    }
    activate(cx, session, to, context, Some(last_input), handing);
}

/// Gives the conversation back to the agent before. Returns whether there is one that waits for it.
pub(super) fn hand_to_parent(
    cx: &OpContext,
    session: &mut Session,
    context: String,
    handing: &mut Handing,
) -> bool {
    let Some(state) = &mut session.agent else { return false };
    if !returns(state) {
        return false;
    }
    state.agent_chain.pop();
    let Some(parent) = state.agent_chain.last().map(|entry| entry.agent_id.clone()) else { return false };
    activate(cx, session, parent, context, None, handing);
    true
}

/// Returns whether the agent that answers gives the conversation back to another one.
pub(super) fn returns(state: &flowsdk_core::session::AgentState) -> bool {
    state.agent_chain.len() > 1 && state.agent_chain.last().is_some_and(|entry| entry.return_to_parent)
}

fn activate(
    cx: &OpContext,
    session: &mut Session,
    agent_id: AgentId,
    context: String,
    last_user_input: Option<String>,
    handing: &mut Handing,
) {
    let Some(state) = &mut session.agent else { return };
    state.active_agent_id = agent_id.clone();
    state.activation += 1;
    state.messages.clear();
    state.previous_response_id = None;
    let max_messages = state.max_messages;
    handing.entries.extend(update_ticket(cx, session));
    let event = AgentStreamEvent {
        session_id: session.id.clone(),
        chat_id: session.chat_id.clone(),
        to: session.id.party().to_owned(),
        phone_number_id: session.id.phone_number_id().to_owned(),
        agent_id,
        max_messages,
        messages: Vec::new(),
        handoff_context: Some(context),
        last_user_input,
        epoch: Some(session.epoch),
        timestamp: cx.now(),
    };
    handing.passed_on = Some(event);
}
