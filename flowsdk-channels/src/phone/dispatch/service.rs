//! The use case.

use std::sync::Arc;

use flowsdk_core::broadcast::{BroadcastIntent, HasIntents};
use flowsdk_core::change::{Author, Change, ChangeLog, Entity, Recorded as _};
use flowsdk_core::chat::{Chat, HasChats};
use flowsdk_core::contact::{Contact, ContactOptIn, HasContacts, HasOptIns, OptInStatus, forms_of};
use flowsdk_core::context::OpContext;
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{FlowKind, HasFlows};
use flowsdk_core::id::{MessageId, RouterId, UserId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::message::{ContentMessage, HasMessages, MessageStatus, Sender, SenderKind, Source};
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{HasRouters, Reach};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::announce::announce_messages;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::OutgoingPhone;

use super::error::DispatchError as Error;
use super::fill::filled;
use super::model::{Dispatched, NewDispatch};
use super::repository::HasDispatchAgents;
use crate::channel_number::{ChannelNumber, HasChannelNumbers, HealthStatus};
use crate::phone::sending::{HasOutbound, NumberState};
use crate::policy::{
    SendDenial, SendQuestion, SendRequest, SendVerdict, SentBy, TemplateFacts, check_template, decide,
};
use crate::template::Template;

/// A transaction with all that a dispatch reads and writes.
pub trait DispatchTx:
    Transaction
    + HasRouters
    + HasFlows
    + HasRecords<Template>
    + HasChannelNumbers
    + HasContacts
    + HasOptIns
    + HasChats
    + HasMessages
    + HasOutbox
    + HasIntents
    + HasDispatchAgents
    + HasIdempotency
    + HasOutbound
{
}

impl<
    T: Transaction
        + HasRouters
        + HasFlows
        + HasRecords<Template>
        + HasChannelNumbers
        + HasContacts
        + HasOptIns
        + HasChats
        + HasMessages
        + HasOutbox
        + HasIntents
        + HasDispatchAgents
        + HasIdempotency
        + HasOutbound,
> DispatchTx for T
{
}

/// Who dispatches.
#[derive(Debug, Clone, Copy)]
pub struct Dispatcher<'a> {
    /// The user.
    pub user: &'a UserId,
    /// Whether they are an administrator.
    pub is_admin: bool,
    /// The routers within their reach.
    pub reach: Reach<'a>,
}

/// Sends templates to contacts.
#[derive(Debug)]
pub struct Dispatches<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Dispatches<S>
where
    S::Tx: DispatchTx,
{
    /// A service over `store`, which notes in `changes` where a consent was passed over.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Sends a template to a contact, once for each idempotency key. The message, its event and the intent of a reply are
    /// one commit. Where an administrator passes over a contact who has not agreed, the contact's log of changes says so.
    ///
    /// # Errors
    /// [`Error`]: the request, rights, and then the order of the contract (spec A 4.8), which is targets, template, number,
    /// opt-in.
    pub async fn dispatch(
        &self,
        author: &Author,
        by: Dispatcher<'_>,
        router: &RouterId,
        new: NewDispatch,
        once: Option<Once<Dispatched>>,
    ) -> Result<Outcome<Dispatched>, Error> {
        let mut passed_over = None;
        let act = async |tx: &mut S::Tx| {
            let (done, contact) = self.act(tx, by, router, &new).await?;
            passed_over = contact;
            Ok::<_, Error>(done)
        };
        let outcome = perform_once(&*self.store, once, self.cx.now(), act).await?;
        if let (Outcome::Done(done), Some(contact)) = (&outcome, passed_over) {
            let (before, mut after) = (contact.to_json(), contact.to_json());
            after["dispatchedWithoutOptIn"] = done.message_id.as_str().into();
            let entity = Entity { router_id: Some(router), ..contact.entity() };
            self.changes.note(author, entity, Change::Updated { before, after, hidden: Vec::new() });
        }
        Ok(outcome)
    }

    /// Dispatches, and returns the contact, too, if they have not agreed to it.
    async fn act(
        &self,
        tx: &mut S::Tx,
        by: Dispatcher<'_>,
        router: &RouterId,
        new: &NewDispatch,
    ) -> Result<(Dispatched, Option<Contact>), Error> {
        check_whole(new)?;
        admit(tx, by, router, new).await?;
        check_target(tx, router, new).await?;
        let template = HasRecords::<Template>::records(tx).find(&new.template_id).await?;
        let template = template.filter(|one| one.router_id == *router).ok_or(Error::TemplateUnknown)?;
        let facts = TemplateFacts { status: template.status, category: template.category };
        check_template(Channel::Phone, facts).map_err(denied)?;
        let number = tx.channel_numbers().find(&new.channel_number_id).await?;
        let number = number.filter(|one| one.router_id == *router).ok_or(Error::NumberUnknown)?;
        let by = SentBy::Outreach { without_opt_in: new.disable_opt_in };
        let health = health(tx, &number).await?;
        let request = SendRequest { channel: Channel::Phone, template: Some(facts), by, number: health };
        request.check().map_err(denied)?;
        if number.business_account_id != template.business_account_id {
            return Err(Error::OtherAccount);
        }
        let content = filled(&template, &new.variables, &new.components)?;
        let contacts = self.contacts(tx, new).await?;
        let opt_in = newest_opt_in(tx, &contacts, router).await?;
        let question = SendQuestion { request, opt_in, window_ends_at: None };
        match decide(&question, self.cx.now()) {
            SendVerdict::Allow => {}
            // A template by phone needs no window.
            SendVerdict::NeedsTemplate => return Err(Error::TemplateUnknown),
            SendVerdict::Deny(denial) => return Err(denied(denial)),
        }
        let [contact, ..] = contacts.as_slice() else {
            return Err(StorageError::Stale { entity: "contact" }.into());
        };
        let chat = Chat::open(&self.cx, contact.id.clone(), router.clone());
        let chats = tx.chats().open_or_get_many(&[chat]).await?;
        let chat = chats.into_iter().next().ok_or(StorageError::Stale { entity: "chat" })?;
        let event = self.event(&number, new, ContentMessage::Template { template: content })?;
        let done = self.publish(tx, event, &chat, router, new).await?;
        let has_agreed = opt_in == Some(OptInStatus::Accepted);
        Ok((done, (!has_agreed).then(|| contact.clone())))
    }

    /// Returns the contact of the number, which is created if nobody knows it; behind it the one of the number's other form,
    /// where that is another one.
    async fn contacts(&self, tx: &mut S::Tx, new: &NewDispatch) -> Result<Vec<Contact>, StorageError> {
        let digits = new.phone_number.as_str().to_owned();
        let asked: Vec<String> = forms_of(&digits).collect();
        let mut found = tx.contacts().find_by_phone_numbers(&asked).await?;
        if found.is_empty() {
            let new = Contact::create(&self.cx, digits.clone(), digits, Channel::Phone);
            return Ok(vec![tx.contacts().insert_or_get(&new).await?]);
        }
        found.sort_by_key(|contact| contact.phone_number != digits);
        found.dedup_by_key(|contact| contact.id.clone());
        Ok(found)
    }

    fn event(
        &self,
        number: &ChannelNumber,
        new: &NewDispatch,
        content: ContentMessage,
    ) -> Result<OutgoingEvent, Error> {
        let party = new.phone_number.as_str();
        let session_id = SessionId::parse(format!("wa-{}-{party}", number.phone_number_id.as_str()))
            .map_err(|_| Error::NumberUnknown)?;
        Ok(OutgoingEvent {
            internal_id: MessageId::generate(self.cx.ids()),
            session_id,
            seq: None,
            chat_id: None,
            phone_number_id: number.phone_number_id.as_str().to_owned(),
            to: party.to_owned(),
            source: Source::Dispatch,
            sender: Sender { kind: SenderKind::Human, name: None },
            content,
            epoch: 0,
            timestamp: self.cx.now(),
            typing_ms: None,
            ig_comment_target: None,
        })
    }

    /// Stores the message, its event, and where a reply goes.
    async fn publish(
        &self,
        tx: &mut S::Tx,
        mut event: OutgoingEvent,
        chat: &Chat,
        router: &RouterId,
        new: &NewDispatch,
    ) -> Result<Dispatched, Error> {
        let id = event.internal_id.clone();
        let row = event.to_message(&chat.id, MessageStatus::Pending);
        event.seq = tx.messages().insert_many(std::slice::from_ref(&row)).await?.first().copied();
        announce_messages(tx.outbox(), event.seq.map(|seq| (router, &row, seq))).await?;
        event.chat_id = Some(chat.id.clone());
        tx.outbox().push_many(&[NewEntry::of::<OutgoingPhone>(&event)]).await?;
        if new.target_flow_id.is_some() || new.target_queue_id.is_some() {
            let intent = BroadcastIntent {
                message_id: id.clone(),
                campaign_id: format!("dispatch:{id}"),
                phone_number_id: event.phone_number_id,
                recipient: new.phone_number.as_str().to_owned(),
                router_id: router.clone(),
                queue_id: new.target_queue_id.clone(),
                user_id: new.target_user_id.clone(),
                flow_id: new.target_flow_id.clone(),
                block_id: new.target_block_id.clone(),
                created_at: event.timestamp,
            };
            tx.intents().insert_many(&[intent]).await?;
        }
        Ok(Dispatched { message_id: id })
    }
}

/// Returns the error of what the send policy denies.
fn denied(denial: SendDenial) -> Error {
    match denial {
        SendDenial::TemplateNotApproved => Error::NotApproved,
        SendDenial::NumberInactive => Error::NumberInactive,
        SendDenial::NumberWithoutToken => Error::NumberWithoutToken,
        SendDenial::NumberPaused => Error::NumberPaused,
        SendDenial::NoOptIn => Error::NoOptIn,
        SendDenial::NoTemplates | SendDenial::WindowClosed => Error::TemplateUnknown,
    }
}

/// Returns whether a number sends.
async fn health<T: DispatchTx>(tx: &mut T, number: &ChannelNumber) -> Result<HealthStatus, StorageError> {
    let states = tx.outbound().numbers(&[number.phone_number_id.as_str().to_owned()]).await?;
    Ok(states.first().map_or(HealthStatus::Inactive, NumberState::health))
}

/// Checks that the caller may dispatch in the router.
async fn admit<T: DispatchTx>(
    tx: &mut T,
    by: Dispatcher<'_>,
    router: &RouterId,
    new: &NewDispatch,
) -> Result<(), Error> {
    let agent = tx.dispatch_agents().can_dispatch(router, by.user).await?;
    let is_within = agent.is_some() || by.reach.contains(router);
    if !is_within {
        return Err(Error::OutOfScope);
    }
    tx.routers().find(router).await?.ok_or(Error::NotFound)?;
    if !by.is_admin && agent != Some(true) {
        return Err(Error::NotAllowed);
    }
    if new.disable_opt_in && !by.is_admin {
        return Err(Error::OptInNotYours);
    }
    Ok(())
}

/// Returns the newest opt-in of the person, whichever contact it was given for.
async fn newest_opt_in<T: DispatchTx>(
    tx: &mut T,
    contacts: &[Contact],
    router: &RouterId,
) -> Result<Option<OptInStatus>, StorageError> {
    let mut newest: Option<ContactOptIn> = None;
    // Two at most.
    for contact in contacts {
        let current = tx.opt_ins().current(&contact.id, router).await?;
        newest = newest.into_iter().chain(current).max_by_key(|one| one.recorded_at);
    }
    Ok(newest.map(|one| one.status))
}

/// Checks that no part of the target lacks the one that it needs (rulings H5).
fn check_whole(new: &NewDispatch) -> Result<(), Error> {
    if new.target_block_id.is_some() && new.target_flow_id.is_none() {
        return Err(Error::Incomplete("targetBlockId", "targetFlowId"));
    }
    if new.target_user_id.is_some() && new.target_queue_id.is_none() {
        return Err(Error::Incomplete("targetUserId", "targetQueueId"));
    }
    Ok(())
}

/// Checks where a reply is to go.
async fn check_target<T: DispatchTx>(tx: &mut T, router: &RouterId, new: &NewDispatch) -> Result<(), Error> {
    if let Some(queue) = &new.target_queue_id
        && !tx.dispatch_agents().is_active_queue(router, queue).await?
    {
        return Err(Error::QueueUnknown);
    }
    if let Some(user) = &new.target_user_id
        && tx.dispatch_agents().can_dispatch(router, user).await?.is_none()
    {
        return Err(Error::AgentUnknown);
    }
    let Some(flow_id) = &new.target_flow_id else { return Ok(()) };
    let flow = tx.flows().find(flow_id).await?.filter(|flow| flow.router_id == *router);
    if flow.as_ref().is_some_and(|flow| flow.kind == FlowKind::Tool) {
        return Err(Error::FlowIsTool);
    }
    let published = flow.and_then(|flow| flow.published_version_id).ok_or(Error::FlowUnknown)?;
    let Some(block) = &new.target_block_id else { return Ok(()) };
    let version = tx.flows().find_versions(&[published]).await?.pop().ok_or(Error::FlowUnknown)?;
    if version.has_block(block) { Ok(()) } else { Err(Error::BlockNotFound) }
}
