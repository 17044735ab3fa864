//! The use cases.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::chat::HasChatCatalog;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, say};
use flowsdk_core::event::{AgentEvent, AgentManualHandoffEvent, JumpTarget, OutgoingEvent, WebhookEventType};
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::flow::HasFlows;
use flowsdk_core::id::{ChatId, MessageId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::media::HasMedia;
use flowsdk_core::message::{ContentMessage, HasMessages, Sender, SenderKind, Source};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::session::{HasSessions, Session};
use flowsdk_core::store::{Retries, Store, Transaction, transact};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::Agent;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::settings::ClosingSettings;
use super::steps::{Moved, is_with, lock_session, publish_endings, tell, transfer};
use super::survey::text_to;
use super::{CloseTicket, ReplyToContact, TagTicket, TransferTicket, content};
use crate::agent::HasPresence;
use crate::close_reason::HasCloseReasons;
use crate::dispatch::{DispatchTx, Dispatcher};
use crate::news::News;
use crate::queue::HasQueues as _;
use crate::tag::{HasTags, TagId};
use crate::ticket::{
    HasTickets, ServiceClocks, Ticket, TicketError as Error, TicketFilter, TicketKind, TicketStatus,
    TransferTarget, find_within, stored,
};

/// A transaction with all that the desk reads and writes. Every transaction with those accessors is one.
pub trait DeskTx:
    Transaction
    + DispatchTx
    + HasPresence
    + HasSessions
    + HasMessages
    + HasMedia
    + HasChatCatalog
    + HasFlows
    + HasRouters
    + HasTags
    + HasCloseReasons
    + HasOutbox
    + HasIdempotency
{
}

impl<
    T: Transaction
        + DispatchTx
        + HasPresence
        + HasSessions
        + HasMessages
        + HasMedia
        + HasChatCatalog
        + HasFlows
        + HasRouters
        + HasTags
        + HasCloseReasons
        + HasOutbox
        + HasIdempotency,
> DeskTx for T
{
}

/// Who acts on tickets.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// The caller, for the log of changes.
    pub author: &'a Author,
    /// The user; `None` for an API client.
    pub user: Option<&'a UserId>,
    /// The routers within their reach.
    pub reach: Reach<'a>,
}

/// A message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketReply)]
pub struct Replied {
    /// The id of the message.
    pub message_id: MessageId,
    /// The chat that has it.
    pub chat_id: ChatId,
    /// Its number in the chat.
    #[schema(example = 12)]
    pub seq: i64,
    /// When it was stored.
    pub created_at: IsoTime,
}

/// Lists, assigns, answers, transfers and closes tickets. A ticket whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct Desk<S> {
    pub(super) store: Arc<S>,
    pub(super) cx: OpContext,
    pub(super) changes: Arc<dyn ChangeLog>,
    handover: Handover,
    pub(super) dispatcher: Arc<Dispatcher<S>>,
}

impl<S: Store> Desk<S>
where
    S::Tx: DeskTx,
{
    /// Creates the desk over `store`: it notes its changes in `changes` and passes messages on by `handover`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        changes: Arc<dyn ChangeLog>,
        handover: Handover,
        dispatcher: Arc<Dispatcher<S>>,
    ) -> Self {
        Self { store, cx, changes, handover, dispatcher }
    }

    /// Returns a page of the tickets within reach that pass the filter, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<TicketFilter>,
        page: &PageRequest,
    ) -> Result<Page<Ticket>, StorageError> {
        self.store.read().await?.tickets().list(filter, reach.routers(), page).await
    }

    /// Returns a ticket.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &TicketId) -> Result<Ticket, Error> {
        find_within(&mut self.store.read().await?, reach, id).await
    }

    /// Sends a message to the contact of a ticket, once for each idempotency key. Only whoever has the ticket may.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Closed`], [`Error::Waiting`], [`Error::AssignedToAnother`], [`Error::MovedOn`],
    /// [`Error::MessageUnknown`], [`Error::MessagesUnseen`], [`Error::WindowClosed`], [`Error::ContentUnclear`],
    /// [`Error::ContentUnsupported`], [`Error::ContentFlawed`], [`Error::TooLong`], [`Error::MediaUnknown`],
    /// [`Error::Idempotency`], [`Error::Storage`].
    pub async fn reply(
        &self,
        by: By<'_>,
        id: &TicketId,
        reply: ReplyToContact,
        once: Option<Once<Replied>>,
    ) -> Result<Outcome<Replied>, Error> {
        let user = by.user.ok_or(Error::AssignedToAnother)?;
        let ticket = self.get(by.reach, id).await?;
        let last_seen = reply.last_seen_message_id.clone();
        let content = reply.into_content().ok_or(Error::ContentUnclear)?;
        let mut sent = None;
        let act = async |tx: &mut S::Tx| -> Result<Replied, Error> {
            let (session, ticket) = lock(tx, &ticket).await?;
            must_have(&ticket, user)?;
            let session = session.filter(|session| is_with(session, &ticket)).ok_or(Error::MovedOn)?;
            if let Some(last_seen) = &last_seen {
                must_have_seen(tx, &ticket, last_seen).await?;
            }
            content::check(&content, session.id.channel().capabilities())?;
            content::check_files(tx, &content, &ticket).await?;
            let event = self.event(tx, &session, user, content).await?;
            let place = (&ticket.router_id, &ticket.chat_id);
            let event = say(tx, event, place, &self.handover).await?;
            if ticket.first_replied_at.is_none() {
                let mut replied = ticket.clone();
                replied.answer(event.timestamp);
                stored::save(tx, &self.cx, WebhookEventType::TicketUpdated, std::slice::from_ref(&replied))
                    .await?;
            }
            let replied = Replied {
                message_id: event.internal_id.clone(),
                chat_id: ticket.chat_id,
                seq: event.seq.unwrap_or_default(),
                created_at: IsoTime(event.timestamp),
            };
            sent = Some(event);
            Ok(replied)
        };
        let outcome = perform_once(&*self.store, once, self.cx.now(), act).await?;
        if let (Outcome::Done(_), Some(event)) = (&outcome, sent) {
            self.handover.hand_over(event);
        }
        Ok(outcome)
    }

    async fn event(
        &self,
        tx: &mut S::Tx,
        session: &Session,
        user: &UserId,
        content: ContentMessage,
    ) -> Result<OutgoingEvent, Error> {
        let now = self.cx.now();
        if !self.is_reachable(tx, session).await? {
            return Err(Error::WindowClosed);
        }
        let people = tx.presence().people(std::slice::from_ref(user), now).await?;
        let name = people.into_iter().next().map(|person| person.name);
        Ok(OutgoingEvent {
            internal_id: MessageId::generate(self.cx.ids()),
            session_id: session.id.clone(),
            seq: None,
            chat_id: Some(session.chat_id.clone()),
            phone_number_id: session.id.phone_number_id().to_owned(),
            to: session.id.party().to_owned(),
            source: Source::Agent,
            sender: Sender { kind: SenderKind::Human, name },
            content,
            epoch: session.epoch,
            timestamp: now,
            typing_ms: None,
            ig_comment_target: None,
        })
    }

    /// Returns whether the channel of a session takes messages to its contact now.
    async fn is_reachable(&self, tx: &mut S::Tx, session: &Session) -> Result<bool, StorageError> {
        if session.id.channel().capabilities().window.is_none() {
            return Ok(true);
        }
        let chat = tx.chat_catalog().find(&session.chat_id).await?;
        let ends_at = chat.and_then(|chat| chat.window_ends_at);
        Ok(ends_at.is_some_and(|ends_at| ends_at > self.cx.now()))
    }

    /// Returns whether the contact of a ticket can be asked something when it is closed. Their session is locked then.
    async fn can_be_asked(&self, tx: &mut S::Tx, ticket: &Ticket) -> Result<bool, StorageError> {
        let session = lock_session(tx, ticket).await?;
        let session =
            session.filter(|session| ticket.epoch == Some(session.epoch) && is_with(session, ticket));
        match session {
            Some(session) => self.is_reachable(tx, &session).await,
            None => Ok(false),
        }
    }

    /// Closes a ticket that somebody has: its flow goes on, after the survey if its queue has one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Closed`], [`Error::Waiting`], [`Error::HandedOver`], [`Error::BlockNotFound`],
    /// [`Error::TagUnknown`], [`Error::CloseReasonUnknown`], [`Error::Storage`].
    pub async fn close(&self, by: By<'_>, id: &TicketId, command: CloseTicket) -> Result<Ticket, Error> {
        self.close_one(by, id, command, &mut ClosingSettings::default()).await
    }

    /// Closes tickets one after the other, as [`Self::close`] does, and returns what became of each, in their order. Each
    /// router is asked once whether it has the reason, and each queue once for its survey.
    ///
    /// # Errors
    /// [`StorageError`]: no further ticket is closed.
    pub async fn close_many(
        &self,
        by: By<'_>,
        ids: Vec<TicketId>,
        command: &CloseTicket,
    ) -> Result<Vec<(TicketId, Result<Ticket, Error>)>, StorageError> {
        let mut settings = ClosingSettings::default();
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            match self.close_one(by, &id, command.clone(), &mut settings).await {
                Err(Error::Storage(error)) => return Err(error),
                outcome => outcomes.push((id, outcome)),
            }
        }
        Ok(outcomes)
    }

    async fn close_one(
        &self,
        by: By<'_>,
        id: &TicketId,
        command: CloseTicket,
        settings: &mut ClosingSettings,
    ) -> Result<Ticket, Error> {
        let mut asked = None;
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let found = find_within(tx, by.reach, id).await?;
            if !settings.takes(tx, &found.router_id, command.reason.as_deref()).await? {
                return Err(Error::CloseReasonUnknown);
            }
            let tags = known_tags(tx, &found, command.tag_ids.clone()).await?;
            let closing = command.by(by.user.cloned());
            if let Some(target) = &closing.jump_target {
                check_target(tx, &found, target).await?;
            }
            must_be_assigned(&found)?;
            let survey = match settings.survey_of(tx, found.queue_id.as_ref()).await? {
                Some(survey) if self.can_be_asked(tx, &found).await? => Some(survey),
                _ => None,
            };
            let session = match found.kind {
                TicketKind::Ai => lock_session(tx, &found).await?,
                TicketKind::Human => None,
            };
            let before = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
            must_be_assigned(&before)?;
            let (mut after, now) = (before.clone(), self.cx.now());
            // Its agents say no more of a ticket that is closed.
            let agents = session.and_then(|session| session.agent);
            if let Some(agents) = agents.filter(|agents| agents.ticket_id.as_ref() == Some(id)) {
                after.learn_sentiments(agents.sentiment.as_ref(), &agents.sentiment_history);
            }
            if before.is_handed_over(now) {
                return Err(Error::HandedOver);
            }
            after.tag_ids = tags.unwrap_or(after.tag_ids);
            after.close(&closing, now)?;
            if let Some(survey) = survey {
                let question = after.ask(survey, closing.jump_target.clone(), now);
                if let Some(event) = text_to(&self.cx, &after, question) {
                    let place = (&after.router_id, &after.chat_id);
                    asked = Some(say(tx, event, place, &self.handover).await?);
                }
            }
            stored::save(tx, &self.cx, WebhookEventType::TicketClosed, std::slice::from_ref(&after)).await?;
            publish_endings(tx, std::slice::from_ref(&after), closing.jump_target.as_ref()).await?;
            tell(tx, News::of_end(&after).into_iter(), now).await?;
            Ok((before, after))
        })
        .await?;
        if let Some(question) = asked {
            self.handover.hand_over(question);
        }
        self.changes.updated(by.author, &before, &after);
        self.refill(before.assigned_user_id.as_ref()).await;
        Ok(after)
    }

    /// Sets the tags of an open ticket.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Closed`], [`Error::TagUnknown`], [`Error::Storage`].
    pub async fn tag(&self, by: By<'_>, id: &TicketId, command: TagTicket) -> Result<Ticket, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let found = find_within(tx, by.reach, id).await?;
            let tags = known_tags(tx, &found, Some(command.tag_ids)).await?;
            let before = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
            if !before.is_open() {
                return Err(Error::Closed);
            }
            let tag_ids = tags.unwrap_or_default();
            let after = Ticket { tag_ids, updated_at: self.cx.now(), ..before.clone() };
            stored::save(tx, &self.cx, WebhookEventType::TicketUpdated, std::slice::from_ref(&after)).await?;
            Ok((before, after))
        })
        .await?;
        self.changes.updated(by.author, &before, &after);
        Ok(after)
    }

    /// Transfers an open ticket to a user or a queue. Returns the ticket with which it goes on. For one of AI agents that is
    /// the same one: their executor is asked to hand the session over, and the ticket of people is opened then (spec B 3.2).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::TargetUnclear`], [`Error::Closed`], [`Error::HandedOver`],
    /// [`Error::AgentUnknown`], [`Error::QueueUnknown`], [`Error::Storage`].
    pub async fn transfer(
        &self,
        by: By<'_>,
        id: &TicketId,
        command: TransferTicket,
    ) -> Result<Ticket, Error> {
        let target = command.target();
        let mut retries = Retries::default();
        loop {
            match self.transfer_once(by, id, target.as_ref()).await {
                Err(Error::Storage(error)) if error.is_lost_race() && retries.again() => {}
                other => return other,
            }
        }
    }

    async fn transfer_once(
        &self,
        by: By<'_>,
        id: &TicketId,
        target: Option<&TransferTarget>,
    ) -> Result<Ticket, Error> {
        let transferred = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let found = find_within(tx, by.reach, id).await?;
            let target = target.ok_or(Error::TargetUnclear)?;
            let service = match target {
                TransferTarget::Queue(queue) => self.service_of(tx, &found.router_id, queue).await?,
                TransferTarget::User(_) => None,
            };
            let session = lock_session(tx, &found).await?;
            if let TransferTarget::User(user) = target {
                let router = std::slice::from_ref(&found.router_id);
                if tx.tickets().lock_agent(user, Some(router)).await?.is_empty() {
                    return Err(Error::AgentUnknown);
                }
            }
            let before = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
            if before.kind == TicketKind::Ai {
                let after = self.ask_for_handoff(tx, &before, target, by.user).await?;
                return Ok(Transferred::Asked(Box::new((before, after))));
            }
            let ticket = (session, before.clone());
            let moved = transfer(tx, &self.cx, ticket, target, by.user, service).await?;
            Ok(Transferred::Moved(Box::new((before, moved))))
        })
        .await?;
        let (before, Moved { closed, next }) = match transferred {
            Transferred::Moved(moved) => *moved,
            Transferred::Asked(asked) => {
                let (before, after) = *asked;
                self.changes.updated(by.author, &before, &after);
                return Ok(after);
            }
        };
        self.changes.updated(by.author, &before, &closed);
        self.changes.created(by.author, &next);
        if next.status == TicketStatus::Waiting {
            self.dispatcher.dispatch_each(next.queue_id.as_slice()).await;
        }
        self.refill(before.assigned_user_id.as_ref()).await;
        // It may have been given to somebody already.
        self.get(by.reach, &next.id).await
    }

    /// Asks the executor of AI agents to hand the session of their ticket to people. Returns the ticket as it is then.
    async fn ask_for_handoff(
        &self,
        tx: &mut S::Tx,
        before: &Ticket,
        target: &TransferTarget,
        by: Option<&UserId>,
    ) -> Result<Ticket, Error> {
        let session = before.session_id.as_ref().ok_or(Error::Closed)?;
        let (mut ticket, now) = (before.clone(), self.cx.now());
        ticket.ask_for_handoff(now)?;
        let (queue_id, user_id) = match target.clone() {
            TransferTarget::Queue(queue) => (Some(queue), None),
            TransferTarget::User(user) => (None, Some(user)),
        };
        let event = AgentEvent::ManualHandoff(AgentManualHandoffEvent {
            session_id: session.clone(),
            chat_id: ticket.chat_id.clone(),
            to: session.party().to_owned(),
            phone_number_id: session.phone_number_id().to_owned(),
            queue_id,
            user_id,
            reason: None,
            requested_by: by.cloned(),
            epoch: ticket.epoch,
            timestamp: now,
        });
        stored::save(tx, &self.cx, WebhookEventType::TicketUpdated, std::slice::from_ref(&ticket)).await?;
        tx.outbox().push_many(&[NewEntry::of::<Agent>(&event)]).await?;
        Ok(ticket)
    }

    /// Returns the clocks of a ticket that goes to an active queue of a router now.
    async fn service_of(
        &self,
        tx: &mut S::Tx,
        router: &RouterId,
        queue: &QueueId,
    ) -> Result<Option<ServiceClocks>, Error> {
        let router = std::slice::from_ref(router);
        let active = tx.queues().active_of(router).await?;
        let queue = active.iter().find(|active| active.id == *queue).ok_or(Error::QueueUnknown)?;
        if queue.service_level.is_none() {
            return Ok(None);
        }
        let routers = tx.routers().find_many(router).await?;
        let tz = routers.first().map_or("", |router| router.tz.as_str());
        Ok(queue.service_clocks(self.cx.now(), tz))
    }

    /// Gives waiting tickets to a user who has room now. What fails is left to the sweep.
    pub(super) async fn refill(&self, user: Option<&UserId>) {
        let Some(user) = user else { return };
        if let Err(error) = self.dispatcher.dispatch_to(user).await {
            tracing::warn!(error = %Chain(&error), "waiting tickets wait for the next sweep");
        }
    }
}

/// Locks the session of a ticket, and then the ticket.
async fn lock<T: DeskTx>(tx: &mut T, ticket: &Ticket) -> Result<(Option<Session>, Ticket), Error> {
    let session = lock_session(tx, ticket).await?;
    let ticket = tx.tickets().find_for_update(&ticket.id).await?.ok_or(Error::NotFound)?;
    Ok((session, ticket))
}

/// What a transfer has done.
enum Transferred {
    /// The ticket goes on as another one. It was this before.
    Moved(Box<(Ticket, Moved)>),
    /// The agents of the ticket are asked to hand it over. It was this before, and is that now.
    Asked(Box<(Ticket, Ticket)>),
}

/// Checks that somebody has a ticket.
fn must_be_assigned(ticket: &Ticket) -> Result<(), Error> {
    match ticket.status {
        TicketStatus::Closed => Err(Error::Closed),
        TicketStatus::Waiting => Err(Error::Waiting),
        TicketStatus::Assigned => Ok(()),
    }
}

/// Checks that a user has a ticket.
fn must_have(ticket: &Ticket, user: &UserId) -> Result<(), Error> {
    must_be_assigned(ticket)?;
    if ticket.kind == TicketKind::Ai {
        return Err(Error::WithAgents);
    }
    if ticket.assigned_user_id.as_ref() == Some(user) { Ok(()) } else { Err(Error::AssignedToAnother) }
}

/// Checks that the contact of a ticket has not written after a message of the chat. The session is locked, so what they
/// write now comes after the reply.
async fn must_have_seen<T: HasMessages>(tx: &mut T, ticket: &Ticket, last: &MessageId) -> Result<(), Error> {
    match tx.messages().is_heard_after(&ticket.chat_id, last).await? {
        None => Err(Error::MessageUnknown),
        Some(true) => Err(Error::MessagesUnseen),
        Some(false) => Ok(()),
    }
}

/// Returns each of these tags once.
///
/// # Errors
/// [`Error::TagUnknown`] when one is none of the ticket's router.
async fn known_tags<T: HasTags>(
    tx: &mut T,
    ticket: &Ticket,
    asked: Option<Vec<TagId>>,
) -> Result<Option<Vec<TagId>>, Error> {
    let Some(asked) = asked else { return Ok(None) };
    let mut tags: Vec<TagId> = Vec::with_capacity(asked.len());
    for tag in asked {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let is_known = tags.is_empty() || tx.tags().among(&ticket.router_id, &tags).await?.len() == tags.len();
    if is_known { Ok(Some(tags)) } else { Err(Error::TagUnknown) }
}

/// Checks that a published flow of the ticket's router has the block.
async fn check_target<T: HasFlows>(tx: &mut T, ticket: &Ticket, target: &JumpTarget) -> Result<(), Error> {
    let flow = tx.flows().find(&target.flow_id).await?;
    let published = flow
        .filter(|flow| flow.router_id == ticket.router_id)
        .and_then(|flow| flow.published_version_id)
        .ok_or(Error::BlockNotFound)?;
    let version = tx.flows().find_versions(&[published]).await?.pop().ok_or(Error::BlockNotFound)?;
    if version.has_block(&target.block_id) { Ok(()) } else { Err(Error::BlockNotFound) }
}
