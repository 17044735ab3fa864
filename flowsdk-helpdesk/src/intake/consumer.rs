//! The consumer of the stream.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::contact::HasContacts as _;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, Unsaid, fallback_messages, say_all};
use flowsdk_core::event::{
    HandoffEvent, HelpdeskEvent, HelpdeskMessageEvent, OutgoingEvent, SentMessageEvent, WebhookEventType,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, ContactId, QueueId, RouterId};
use flowsdk_core::session::{HasSessions as _, SessionId, StoredSession};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::text::Language;
use flowsdk_core::time::Timestamp;

use super::handoffs::{IntakeTx, Locked, Taken, take};
use super::{HasStuckHandoffs as _, ai_tickets};
use crate::desk::steps::{publish_endings, tell};
use crate::desk::survey::read_answers;
use crate::dispatch::Dispatcher;
use crate::news::{DeskEvent, News, TicketMessageStatus, TicketMessages};
use crate::ticket::{CloseKind, Closing, HasTickets, stored};

/// The consumer group on `stream:helpdesk`.
pub const HELPDESK_GROUP: &str = "helpdesk";

/// For how long nothing has happened in a session that is taken to be forgotten. The event of a handoff is taken long
/// before, with the queue and the user that its block names.
pub const FORGOTTEN_AFTER: Duration = Duration::from_mins(10);

/// Takes what flows hand over, and what contacts write meanwhile.
#[derive(Debug)]
pub struct HelpdeskIntake<S> {
    store: Arc<S>,
    cx: OpContext,
    dispatcher: Arc<Dispatcher<S>>,
    handover: Handover,
    language: Language,
}

impl<S: Store> HelpdeskIntake<S>
where
    S::Tx: IntakeTx,
{
    /// Creates an intake over `store`, whose tickets `dispatcher` gives to agents. What contacts are told goes by
    /// `handover`, in `language` where their channel names none.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        dispatcher: Arc<Dispatcher<S>>,
        handover: Handover,
        language: Language,
    ) -> Self {
        Self { store, cx, dispatcher, handover, language }
    }

    /// Takes events in one commit, and then gives their tickets to agents. An event that comes again changes nothing.
    ///
    /// # Errors
    /// Nothing of them was committed.
    pub async fn take(&self, events: &[&HelpdeskEvent]) -> Result<(), StorageError> {
        let queues = self.store_all(events).await?;
        self.dispatcher.dispatch_each(&queues.into_iter().collect::<Vec<_>>()).await;
        Ok(())
    }

    /// Tries handoffs again that no queue has taken.
    ///
    /// # Errors
    /// Nothing of them was committed.
    pub async fn retry_stuck(&self, limit: u32) -> Result<(), StorageError> {
        let due = self.store.read().await?.stuck_handoffs().due(self.cx.now(), limit).await?;
        if due.is_empty() {
            return Ok(());
        }
        let attempts: BTreeMap<SessionId, (u32, Timestamp)> =
            due.iter().map(|stuck| (stuck.session_id.clone(), (stuck.attempts, stuck.created_at))).collect();
        let handoffs: Vec<&HandoffEvent> = due.iter().map(|stuck| &stuck.event).collect();
        let mut tx = self.store.begin().await?;
        let locked = Locked::read(&mut tx, &handoffs, Vec::new(), self.cx.now()).await?;
        let Taken { queues, news, stuck } = take(&mut tx, &self.cx, &handoffs, &attempts, &locked).await?;
        let said = self.tell_contacts(&mut tx, &stuck).await?;
        tell(&mut tx, news.into_iter(), self.cx.now()).await?;
        tx.commit().await?;
        self.hand_over(said);
        self.dispatcher.dispatch_each(&queues.into_iter().collect::<Vec<_>>()).await;
        Ok(())
    }

    /// Hands sessions over anew that people have and that got no ticket: of before there were tickets, or whose event was
    /// lost. They are looked at when nothing has happened in them for [`FORGOTTEN_AFTER`]. Returns how many there were.
    ///
    /// # Errors
    /// Nothing of them was committed.
    pub async fn take_forgotten(&self, limit: u32) -> Result<usize, StorageError> {
        let now = self.cx.now();
        let before = now - FORGOTTEN_AFTER;
        let ids = self.store.read().await?.tickets().sessions_without(before, limit).await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let mut tx = self.store.begin().await?;
        let sessions = tx.sessions().find_many_for_update(&ids).await?;
        let of: Vec<ContactId> = sessions.iter().map(|one| one.session.contact_id.clone()).collect();
        let contacts = tx.contacts().find_many_for_update(&of).await?;
        let events: Vec<HandoffEvent> = sessions
            .iter()
            .filter_map(|StoredSession { session, .. }| {
                let contact = contacts.iter().find(|contact| contact.id == session.contact_id)?;
                Some(HandoffEvent::of(session, contact, now))
            })
            .collect();
        drop(tx);
        let events: Vec<HelpdeskEvent> = events.into_iter().map(HelpdeskEvent::Handoff).collect();
        self.take(&events.iter().collect::<Vec<_>>()).await?;
        Ok(events.len())
    }

    async fn store_all(&self, events: &[&HelpdeskEvent]) -> Result<BTreeSet<QueueId>, StorageError> {
        let (mut handoffs, mut wrote, mut sent, mut of_agents) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for event in events {
            match event {
                HelpdeskEvent::Handoff(event) => handoffs.push(event),
                HelpdeskEvent::Message(event) => wrote.push(event),
                HelpdeskEvent::MessageStatus(event) => sent.push(event),
                HelpdeskEvent::AiTicket(event) => of_agents.push(event),
            }
        }
        let mut tx = self.store.begin().await?;
        let begun =
            of_agents.iter().filter(|event| event.opens()).map(|event| event.session_id.clone()).collect();
        let locked = Locked::read(&mut tx, &handoffs, begun, self.cx.now()).await?;
        // The tickets of people go on from those of agents.
        ai_tickets::take(&mut tx, &self.cx, &of_agents, &locked).await?;
        let Taken { queues, mut news, stuck } =
            take(&mut tx, &self.cx, &handoffs, &BTreeMap::new(), &locked).await?;
        let said = self.tell_contacts(&mut tx, &stuck).await?;
        let mut answered = Vec::new();
        if !wrote.is_empty() {
            answered = read_answers(&mut tx, &self.cx, &self.handover, &wrote).await?;
            news.extend(note(&mut tx, wrote).await?);
        }
        if !sent.is_empty() {
            // Whoever has a ticket hears of the message before the ticket is closed for it.
            news.extend(follow(&mut tx, &sent).await?);
            news.extend(expire(&mut tx, &sent, &self.cx).await?);
        }
        tell(&mut tx, news.into_iter(), self.cx.now()).await?;
        tx.commit().await?;
        self.hand_over(said);
        for event in answered {
            self.handover.hand_over(event);
        }
        Ok(queues)
    }

    /// Tells contacts that no queue takes their handoff (rulings S20).
    async fn tell_contacts<'a>(
        &self,
        tx: &mut S::Tx,
        stuck: &'a [(RouterId, Unsaid)],
    ) -> Result<Vec<(&'a RouterId, OutgoingEvent)>, StorageError> {
        let unsaid: Vec<&Unsaid> = stuck.iter().map(|(_, unsaid)| unsaid).collect();
        let messages = fallback_messages(tx, &self.cx, self.language, &unsaid).await?;
        let mut said: Vec<_> =
            stuck.iter().zip(messages).filter_map(|((router, _), event)| Some((router, event?))).collect();
        say_all(tx, &mut said, &self.handover).await?;
        Ok(said)
    }

    fn hand_over(&self, said: Vec<(&RouterId, OutgoingEvent)>) {
        for (_, event) in said {
            self.handover.hand_over(event);
        }
    }
}

/// Notes what contacts wrote. Returns the news of whoever has their tickets.
async fn note<T: HasTickets>(
    tx: &mut T,
    mut wrote: Vec<&HelpdeskMessageEvent>,
) -> Result<Vec<News>, StorageError> {
    wrote.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    let times: Vec<(SessionId, Timestamp)> =
        wrote.iter().map(|event| (event.session_id.clone(), event.timestamp)).collect();
    let held = tx.tickets().note_contact(&times).await?;
    let news = wrote.into_iter().filter_map(|event| {
        let (_, ticket_id, user) = held.iter().find(|(session, ..)| *session == event.session_id)?;
        let key = event.messages.first().map(|message| message.dedupe_key(&event.session_id));
        let (ticket_id, chat_id) = (ticket_id.clone(), event.chat_id.clone());
        let messages = TicketMessages { ticket_id, chat_id, messages: event.messages.clone() };
        Some(News { key, ..News::new(user, DeskEvent::Message(messages)) })
    });
    Ok(news.collect())
}

/// Returns the news of messages that came further, or failed, for whoever has their tickets.
async fn follow<T: HasTickets>(tx: &mut T, sent: &[&SentMessageEvent]) -> Result<Vec<News>, StorageError> {
    let sessions: BTreeSet<&SessionId> = sent.iter().map(|event| &event.session_id).collect();
    let sessions: Vec<SessionId> = sessions.into_iter().cloned().collect();
    let tickets = tx.tickets().assigned_of(&sessions).await?;
    let news = sent.iter().filter_map(|event| {
        let ticket = tickets.iter().find(|ticket| ticket.session_id.as_ref() == Some(&event.session_id))?;
        let user = ticket.assigned_user_id.as_ref()?;
        let key = Some(format!("status:{}:{}", event.message_id, event.status.name()));
        let status = TicketMessageStatus {
            ticket_id: ticket.id.clone(),
            chat_id: ticket.chat_id.clone(),
            message_id: event.message_id.clone(),
            status: event.status,
            error: event.error.clone(),
        };
        Some(News { key, ..News::new(user, DeskEvent::MessageStatus(status)) })
    });
    Ok(news.collect())
}

/// Closes the tickets of contacts who can no longer be answered, as an agent's message has shown. Returns the news of
/// whoever had them.
async fn expire<T: IntakeTx>(
    tx: &mut T,
    sent: &[&SentMessageEvent],
    cx: &OpContext,
) -> Result<Vec<News>, StorageError> {
    let mut chats = BTreeMap::new();
    for event in sent.iter().filter(|event| event.window_expired) {
        let found = tx.chat_catalog().find_message(&event.message_id).await?;
        chats.extend(found.map(|(message, _)| (message.chat_id, &event.session_id)));
    }
    if chats.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ChatId> = chats.keys().cloned().collect();
    let mut tickets = tx.tickets().open_of_chats_for_update(&ids).await?;
    let closing = Closing::by_system(CloseKind::MetaWindowExpired);
    tickets.retain_mut(|ticket| {
        let is_its = chats.get(&ticket.chat_id).copied() == ticket.session_id.as_ref();
        is_its && ticket.close(&closing, cx.now()).is_ok()
    });
    stored::save(tx, cx, WebhookEventType::TicketClosed, &tickets).await?;
    publish_endings(tx, &tickets, None).await?;
    Ok(tickets.iter().filter_map(News::of_end).collect())
}

#[async_trait]
impl<S: Store> BatchHandler for HelpdeskIntake<S>
where
    S::Tx: IntakeTx,
{
    type Event = HelpdeskEvent;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<HelpdeskEvent, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<HelpdeskEvent, ()>]) -> Vec<Verdict<()>> {
        let events: Vec<&HelpdeskEvent> = batch.iter().map(|work| work.event()).collect();
        Verdict::of_write(batch.len(), &self.take(&events).await)
    }
}
