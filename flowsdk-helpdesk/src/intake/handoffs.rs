//! Handoffs become tickets, in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use flowsdk_core::chat::{HasChatCatalog, HasChats};
use flowsdk_core::contact::HasContacts;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::Unsaid;
use flowsdk_core::event::{FlowEvent, HandBack, HandoffDeflect, HandoffEvent, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::message::HasMessages;
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{Fallback, HasRouters};
use flowsdk_core::session::{HasSessions, HelpdeskState, Mode, Session, SessionId, SessionWrite};
use flowsdk_core::store::Transaction;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::Flow;
use flowsdk_core::time::Timestamp;

use super::targets::Targets;
use super::{HasStuckHandoffs, StuckHandoff};
use crate::desk::steps::publish_endings;
use crate::dispatch::DispatchTx;
use crate::news::News;
use crate::queue::Queue;
use crate::rule::HasRules;
use crate::ticket::{CloseKind, Closing, OpenedByKind, ServiceClocks, Ticket, TicketStatus, stored};

/// A transaction with all that the intake reads and writes. Every transaction with those accessors is one.
pub trait IntakeTx:
    Transaction
    + DispatchTx
    + HasRecords<Queue>
    + HasRules
    + HasStuckHandoffs
    + HasSessions
    + HasContacts
    + HasChatCatalog
    + HasChats
    + HasMessages
    + HasRouters
    + HasOutbox
{
}

impl<
    T: Transaction
        + DispatchTx
        + HasRecords<Queue>
        + HasRules
        + HasStuckHandoffs
        + HasSessions
        + HasContacts
        + HasChatCatalog
        + HasChats
        + HasMessages
        + HasRouters
        + HasOutbox,
> IntakeTx for T
{
}

/// The pauses before a handoff without a queue is tried again: the first, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What became of handoffs.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The queues in which tickets wait now.
    pub(super) queues: BTreeSet<QueueId>,
    /// What agents are to be told.
    pub(super) news: Vec<News>,
    /// The contacts whose handoff no queue takes, and who were not told so yet, each with their router.
    pub(super) stuck: Vec<(RouterId, Unsaid)>,
}

/// Turns handoffs into tickets, no two of one session. Those without a queue are kept: `attempts` has how often each was
/// tried before, and since when. Whoever commits tells the news.
///
/// # Errors
/// Nothing may be committed.
pub(super) async fn take<T: IntakeTx>(
    tx: &mut T,
    cx: &OpContext,
    handoffs: &[&HandoffEvent],
    attempts: &BTreeMap<SessionId, (u32, Timestamp)>,
    locked: &Locked,
) -> Result<Taken, StorageError> {
    if handoffs.is_empty() {
        return Ok(Taken::default());
    }
    let Locked { targets, sessions, agents } = locked;
    let ids: Vec<SessionId> = handoffs.iter().map(|event| event.session_id.clone()).collect();
    let known: BTreeSet<(SessionId, i64)> = tx.tickets().known_handoffs(&ids).await?.into_iter().collect();
    let chats: Vec<ChatId> = handoffs.iter().map(|event| event.chat_id.clone()).collect();
    let open = tx.tickets().open_of_chats_for_update(&chats).await?;
    let before = tickets_before(tx, handoffs).await?;
    let mut taking = Taking {
        cx,
        now: cx.now(),
        open: BTreeMap::new(),
        before,
        replaced: Vec::new(),
        stuck: Vec::new(),
        unsaid: Vec::new(),
        deflected: Vec::new(),
    };
    taking.open.extend(open.into_iter().map(|ticket| (ticket.chat_id.clone(), Placed::Stored(ticket))));
    let (mut pointers, mut settled) = (Vec::new(), Vec::new());
    for event in handoffs {
        let session = sessions.get(&event.session_id).filter(|session| has_handed_over(session, event));
        let Some(session) = session else {
            tracing::debug!(session = %event.session_id, "a session that was handed over has moved on");
            settled.push(event.session_id.clone());
            continue;
        };
        if known.contains(&(session.id.clone(), session.epoch)) {
            settled.push(event.session_id.clone());
            continue;
        }
        let Some(queue) = targets.queue_of(event, session) else {
            taking.keep(event, session, attempts.get(&event.session_id).copied());
            continue;
        };
        let user = preset_user(event, agents);
        settled.push(event.session_id.clone());
        // Whoever has asked for people at the desk gets them, as by any other transfer.
        if user.is_none()
            && event.requested_by.is_none()
            && let Some(deflect) = targets.deflection(queue, taking.now, taking.waiting_in(&queue.id))
        {
            taking.deflected.push(hand_back(session, deflect, taking.now));
            continue;
        }
        let service = targets.service_clocks(queue, taking.now);
        let id = taking.open_ticket(event, session, queue, user, service);
        pointers.push((session.clone(), id));
    }
    taking.write(tx, cx, pointers, &settled, !attempts.is_empty()).await
}

/// What a batch of events locks before it locks tickets: queues, sessions and agents, each at once, in the order of
/// everybody else.
pub(super) struct Locked {
    targets: Targets,
    /// The sessions that are there. Those of a contact who was deleted are not.
    pub(super) sessions: HashMap<SessionId, Session>,
    agents: BTreeSet<AgentOf>,
}

impl Locked {
    /// Locks what handoffs need, and the sessions in which AI agents have begun.
    pub(super) async fn read<T: IntakeTx>(
        tx: &mut T,
        handoffs: &[&HandoffEvent],
        begun: Vec<SessionId>,
        now: Timestamp,
    ) -> Result<Self, StorageError> {
        let targets = Targets::read(tx, handoffs, now).await?;
        let mut ids = begun;
        ids.extend(handoffs.iter().map(|event| event.session_id.clone()));
        ids.sort();
        ids.dedup();
        let found =
            if ids.is_empty() { Vec::new() } else { tx.sessions().find_many_for_update(&ids).await? };
        let sessions = found.into_iter().map(|stored| (stored.session.id.clone(), stored.session)).collect();
        let agents = preset_agents(tx, handoffs).await?;
        Ok(Self { targets, sessions, agents })
    }
}

/// Returns whether the session waits for people because of this handoff.
fn has_handed_over(session: &Session, event: &HandoffEvent) -> bool {
    session.mode == Mode::Human && event.epoch.is_none_or(|epoch| epoch == session.epoch)
}

/// An agent: their router and their user.
type AgentOf = (RouterId, UserId);

/// Locks the agents to whom flows hand over: all at once, so that they are locked in the order of everybody else.
async fn preset_agents<T: IntakeTx>(
    tx: &mut T,
    handoffs: &[&HandoffEvent],
) -> Result<BTreeSet<AgentOf>, StorageError> {
    let preset = |event: &&HandoffEvent| Some((event.router_id.clone(), event.preset_user_id.clone()?));
    let preset: BTreeSet<AgentOf> = handoffs.iter().filter_map(preset).collect();
    if preset.is_empty() {
        return Ok(preset);
    }
    let preset: Vec<AgentOf> = preset.into_iter().collect();
    Ok(tx.tickets().lock_agents(&preset).await?.into_iter().collect())
}

/// Returns the user who gets the ticket at once, if they are one of the router's agents.
fn preset_user(event: &HandoffEvent, agents: &BTreeSet<AgentOf>) -> Option<UserId> {
    let user = event.preset_user_id.as_ref()?;
    let is_agent = agents.contains(&(event.router_id.clone(), user.clone()));
    if !is_agent {
        tracing::warn!(session = %event.session_id, %user, "a flow hands over to a user who is no agent");
    }
    is_agent.then(|| user.clone())
}

/// Returns the AI tickets from which handoffs go on, those that are there.
async fn tickets_before<T: IntakeTx>(
    tx: &mut T,
    handoffs: &[&HandoffEvent],
) -> Result<BTreeSet<TicketId>, StorageError> {
    let named: BTreeSet<TicketId> = handoffs.iter().filter_map(|event| event.ai_ticket_id.clone()).collect();
    if named.is_empty() {
        return Ok(named);
    }
    let named: Vec<TicketId> = named.into_iter().collect();
    Ok(tx.tickets().known(&named).await?.into_iter().collect())
}

/// The open ticket of a chat.
enum Placed {
    /// It was there before.
    Stored(Ticket),
    /// It is of this batch.
    New(Ticket),
}

/// What a batch of handoffs changes.
struct Taking<'a> {
    cx: &'a OpContext,
    now: Timestamp,
    open: BTreeMap<ChatId, Placed>,
    /// The AI tickets that are there.
    before: BTreeSet<TicketId>,
    replaced: Vec<Placed>,
    stuck: Vec<StuckHandoff>,
    /// Who is told that no queue takes their handoff.
    unsaid: Vec<(RouterId, Unsaid)>,
    deflected: Vec<FlowEvent>,
}

impl Taking<'_> {
    /// Returns how many tickets of the batch wait in a queue.
    fn waiting_in(&self, queue: &QueueId) -> i64 {
        let new = self.open.values().filter_map(|placed| match placed {
            Placed::New(ticket) => Some(ticket),
            Placed::Stored(_) => None,
        });
        let waits = |ticket: &&Ticket| {
            ticket.status == TicketStatus::Waiting && ticket.queue_id.as_ref() == Some(queue)
        };
        i64::try_from(new.filter(waits).count()).unwrap_or(i64::MAX)
    }

    /// Opens the ticket of a handoff in the place of the chat's one before, and returns its id.
    fn open_ticket(
        &mut self,
        event: &HandoffEvent,
        session: &Session,
        queue: &Queue,
        user: Option<UserId>,
        service: Option<ServiceClocks>,
    ) -> TicketId {
        let id = TicketId::generate(self.cx.ids());
        let before = self.open.remove(&event.chat_id);
        let previous = before.map(|placed| {
            let placed = placed.replaced(self.now);
            let id = placed.ticket().id.clone();
            self.replaced.push(placed);
            id
        });
        let of = (event.chat_id.clone(), event.contact.id.clone());
        let mut ticket = Ticket::opened(id.clone(), event.router_id.clone(), of, queue.id.clone(), self.now);
        ticket.session_id = Some(session.id.clone());
        ticket.epoch = Some(session.epoch);
        let of_agent = event.ai_ticket_id.as_ref().filter(|id| self.before.contains(id));
        if event.ai_ticket_id.is_some() {
            ticket.opened_by_kind = OpenedByKind::AiAgent;
        }
        if let Some(user) = &event.requested_by {
            ticket.opened_by_kind = OpenedByKind::Agent;
            ticket.opened_by_user_id = Some(user.clone());
        }
        ticket.previous_ticket_id = previous.or_else(|| of_agent.cloned());
        ticket.sentiment_result.clone_from(&event.sentiment);
        ticket.contact_wrote_at = event.timestamp.max(session.last_interaction_at);
        ticket.start_service(service);
        if let Some(user) = user {
            ticket.status = TicketStatus::Assigned;
            ticket.assigned_user_id = Some(user);
            ticket.assigned_at = Some(self.now);
        }
        self.open.insert(event.chat_id.clone(), Placed::New(ticket));
        id
    }

    /// Keeps a handoff that no queue takes.
    fn keep(&mut self, event: &HandoffEvent, session: &Session, before: Option<(u32, Timestamp)>) {
        let (attempts, since) = before.unwrap_or((0, self.now));
        let pause = FIRST_PAUSE.saturating_mul(1 << attempts.min(16)).min(LONGEST_PAUSE);
        if before.is_none() {
            tracing::warn!(router = %event.router_id, session = %event.session_id,
                "a handoff waits: its router has no active queue");
            let unsaid = Unsaid::of(session, Fallback::StuckHandoff);
            self.unsaid.push((event.router_id.clone(), unsaid));
        }
        self.stuck.push(StuckHandoff {
            session_id: event.session_id.clone(),
            router_id: event.router_id.clone(),
            event: event.clone(),
            attempts: attempts + 1,
            due_at: self.now + pause,
            created_at: since,
        });
    }

    /// Writes it all: tickets that end before those that take their place, since a chat has one open ticket.
    async fn write<T: IntakeTx>(
        mut self,
        tx: &mut T,
        cx: &OpContext,
        pointers: Vec<(Session, TicketId)>,
        settled: &[SessionId],
        were_stuck: bool,
    ) -> Result<Taken, StorageError> {
        if !were_stuck {
            self.leave_out_known(tx).await?;
        }
        let (mut saved, mut new) = (Vec::new(), Vec::new());
        for placed in self.replaced {
            match placed {
                Placed::Stored(ticket) => saved.push(ticket),
                Placed::New(ticket) => new.push(ticket),
            }
        }
        let opened = self.open.into_values().filter_map(|placed| match placed {
            Placed::New(ticket) => Some(ticket),
            Placed::Stored(_) => None,
        });
        let waiting: Vec<Ticket> = opened.collect();
        let queues = waiting
            .iter()
            .filter(|ticket| ticket.status == TicketStatus::Waiting)
            .filter_map(|ticket| ticket.queue_id.clone())
            .collect();
        stored::save(tx, cx, WebhookEventType::TicketClosed, &saved).await?;
        let mut closed = saved;
        closed.extend(new.iter().cloned());
        let told = |ticket| News::of_assignment(ticket).into_iter().chain(News::of_sentiment(ticket));
        let given: Vec<News> = waiting.iter().flat_map(told).collect();
        new.extend(waiting);
        stored::insert(tx, cx, &new).await?;
        point(tx, pointers).await?;
        tx.stuck_handoffs().put_many(&self.stuck).await?;
        if were_stuck {
            tx.stuck_handoffs().remove_many(settled).await?;
        }
        publish_endings(tx, &closed, None).await?;
        publish_deflections(tx, &self.deflected).await?;
        let news = closed.iter().filter_map(News::of_end).chain(given).collect();
        Ok(Taken { queues, news, stuck: self.unsaid })
    }

    /// Leaves out handoffs that are kept already: their events have come again.
    async fn leave_out_known<T: IntakeTx>(&mut self, tx: &mut T) -> Result<(), StorageError> {
        if self.stuck.is_empty() {
            return Ok(());
        }
        let ids: Vec<SessionId> = self.stuck.iter().map(|stuck| stuck.session_id.clone()).collect();
        let known = tx.stuck_handoffs().of_sessions(&ids).await?;
        let is_known = |session: &SessionId, epoch: Option<i64>| {
            known.iter().any(|kept| kept.session_id == *session && kept.event.epoch == epoch)
        };
        self.stuck.retain(|stuck| !is_known(&stuck.session_id, stuck.event.epoch));
        let stuck: BTreeSet<&SessionId> = self.stuck.iter().map(|stuck| &stuck.session_id).collect();
        self.unsaid.retain(|(_, unsaid)| stuck.contains(&unsaid.session_id));
        Ok(())
    }
}

/// Returns the event that gives the session of a handoff that was turned away back to its flow.
fn hand_back(session: &Session, deflect: HandoffDeflect, now: Timestamp) -> FlowEvent {
    FlowEvent::HumanSessionEnded(HandBack {
        session_id: session.id.clone(),
        chat_id: session.chat_id.clone(),
        to: session.id.party().to_owned(),
        phone_number_id: session.id.phone_number_id().to_owned(),
        jump_target: None,
        agent_end_reason: None,
        ticket: None,
        handoff_deflect: Some(deflect),
        epoch: Some(session.epoch),
        timestamp: now,
    })
}

async fn publish_deflections<T: HasOutbox>(tx: &mut T, deflected: &[FlowEvent]) -> Result<(), StorageError> {
    if deflected.is_empty() {
        return Ok(());
    }
    metrics::counter!("flowsdk_handoffs_deflected").increment(deflected.len() as u64);
    let entries: Vec<NewEntry> = deflected.iter().map(NewEntry::of::<Flow>).collect();
    tx.outbox().push_many(&entries).await
}

impl Placed {
    fn ticket(&self) -> &Ticket {
        match self {
            Self::Stored(ticket) | Self::New(ticket) => ticket,
        }
    }

    /// Returns it closed. Where it was of another session of the chat, that one goes on with its flow.
    fn replaced(self, now: Timestamp) -> Self {
        let close = |mut ticket: Ticket| {
            if ticket.close(&Closing::by_system(CloseKind::HandoffReplaced), now).is_err() {
                tracing::error!(ticket = %ticket.id, "an open ticket is closed");
            }
            ticket
        };
        match self {
            Self::Stored(ticket) => Self::Stored(close(ticket)),
            Self::New(ticket) => Self::New(close(ticket)),
        }
    }
}

/// Notes in sessions which ticket they have.
pub(crate) async fn point<T: HasSessions>(
    tx: &mut T,
    pointers: Vec<(Session, TicketId)>,
) -> Result<(), StorageError> {
    if pointers.is_empty() {
        return Ok(());
    }
    let to = |(mut session, ticket): (Session, TicketId)| {
        let expected = session.version;
        session.version += 1;
        session.helpdesk = Some(HelpdeskState { ticket_id: Some(ticket) });
        (session, expected)
    };
    let sessions: Vec<(Session, i64)> = pointers.into_iter().map(to).collect();
    let writes: Vec<SessionWrite<'_>> = sessions
        .iter()
        .map(|(session, expected)| SessionWrite { session, expected: Some(*expected) })
        .collect();
    tx.sessions().save_many(&writes).await
}
