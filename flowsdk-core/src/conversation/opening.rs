//! Begins the sessions of those who write for the first time, or again after an end (spec B 4.2).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::ConversationTx;
use super::flow_cache::FlowCache;
use super::flows::Flows;
use crate::broadcast::{BroadcastIntent, INTENT_LIFETIME, OpenIntent, choose};
use crate::chat::Chat;
use crate::contact::{Contact, ContactAlias};
use crate::context::OpContext;
use crate::event::IncomingEvent;
use crate::fault::StorageError;
use crate::flow::CompiledFlow;
use crate::id::{ChatId, ContactId, FlowId, MessageId, QueueId, RouterId, UserId};
use crate::router::Route;
use crate::session::{Channel, Mode, Position, Session, SessionId};
use crate::time::Timestamp;

/// The state that a first message finds.
pub(super) enum Opened {
    /// A session to run.
    Session(Box<Session>, Box<Contact>),
    /// A session that people have from the start, as somebody who wrote to the contact wanted (spec A 4.8).
    Attended(Box<Attended>),
    /// A router without a flow: the messages are stored in this chat, nothing runs (spec A 1).
    ChatOnly(Box<Chat>),
    /// No channel, or no contact where the gateway should have made one: the event is dropped and
    /// logged (spec B 7). Or a contact who has entered a chat in which somebody has written meanwhile.
    Dropped,
    /// A session that could not even begin is frozen: the messages are stored in this chat, the entry is
    /// kept.
    Frozen(Box<Chat>),
}

/// A session that begins at a queue of the helpdesk.
pub(super) struct Attended {
    pub(super) session: Session,
    pub(super) contact: Contact,
    pub(super) queue_id: QueueId,
    pub(super) user_id: Option<UserId>,
}

impl Opened {
    /// The session to run.
    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Self::Session(session, _) => Some(session),
            Self::Attended(attended) => Some(&attended.session),
            Self::ChatOnly(_) | Self::Dropped | Self::Frozen(_) => None,
        }
    }

    /// The router of the chat that was written in.
    pub(super) fn router(&self) -> Option<&RouterId> {
        match self {
            Self::Session(session, _) => Some(&session.router_id),
            Self::Attended(attended) => Some(&attended.session.router_id),
            Self::ChatOnly(chat) | Self::Frozen(chat) => chat.router_id.as_ref(),
            Self::Dropped => None,
        }
    }
}

/// Opens a session for each of `events`, in order.
pub(super) async fn open_many<T: ConversationTx>(
    tx: &mut T,
    cx: &OpContext,
    cache: &FlowCache,
    flows: &mut Flows,
    now: Timestamp,
    events: &[&IncomingEvent],
) -> Result<Vec<Opened>, StorageError> {
    let ids: Vec<SessionId> = events.iter().map(|event| event.session_id.clone()).collect();
    let frozen: HashSet<SessionId> = tx.sessions().frozen_among(&ids).await?.into_iter().collect();
    let routes = routes_of(tx, events).await?;
    let contacts = contacts_of(tx, cx, events, &routes).await?;
    let chats = chats_of(tx, cx, events, &routes, &contacts).await?;
    let newest = newest_messages(tx, events, &chats).await?;
    let intents = intents_of(tx, now, events, &frozen, &contacts).await?;
    let entry_flows = entry_flows(tx, cache, flows, events, &routes, &intents).await?;

    let mut opened = Vec::with_capacity(events.len());
    for event in events {
        let (Some(route), Some(contact)) =
            (routes.get(&event.phone_number_id), contacts.get(&event.session_id.contact_identity()))
        else {
            let reason = if routes.contains_key(&event.phone_number_id) { "contact" } else { "channel" };
            tracing::error!(session = %event.session_id, reason, "an incoming event was dropped");
            metrics::counter!("flowsdk_incoming_dropped", "reason" => reason).increment(1);
            opened.push(Opened::Dropped);
            continue;
        };
        let Some(chat) = chats.get(&(contact.id.clone(), route.router_id.clone())) else {
            opened.push(Opened::Dropped);
            continue;
        };
        if frozen.contains(&event.session_id) {
            opened.push(Opened::Frozen(Box::new(chat.clone())));
            continue;
        }
        // Somebody has written since: the session has begun and ended.
        if event.is_opening() && event.opened_after != Some(newest.get(&chat.id).copied().unwrap_or(0)) {
            opened.push(Opened::Dropped);
            continue;
        }
        // Spec B 4.3: a token's flow counts only within the session's router.
        let of_router = |id: &&FlowId| entry_flows.get(*id) == Some(&route.router_id);
        let intent = intents.get(&event.session_id).filter(|intent| intent.router_id == route.router_id);
        let wanted = event.flow_id.as_ref().filter(of_router);
        // A target that is published no more is as good as none.
        let target = intent.and_then(|intent| intent.flow_id.as_ref()).filter(of_router);
        let target = target.and_then(|flow| entry(flows, route, flow));
        let initial = wanted.or(route.initial_flow_id.as_ref());
        let position = target.or_else(|| initial.and_then(|id| entry(flows, route, id))).map(|flow| {
            // A block that the flow has no more is its start.
            let block = intent.filter(|_| target.is_some()).and_then(|intent| intent.block_id.clone());
            Position {
                flow_id: flow.flow_id().clone(),
                version_id: flow.version_id().clone(),
                block_id: block.filter(|block| flow.has_block(block)),
                waiting: None,
            }
        });
        let queue = intent.and_then(|intent| Some((intent.queue_id.clone()?, intent.user_id.clone())));
        if position.is_none() && queue.is_none() {
            opened.push(Opened::ChatOnly(Box::new(chat.clone())));
            continue;
        }
        let (id, router) = (event.session_id.clone(), route.router_id.clone());
        let mut session = Session::begin(id, router, contact.id.clone(), chat.id.clone(), now);
        session.position = position;
        session.variables = event.context.clone().unwrap_or_default();
        let contact = contact.clone();
        opened.push(match queue {
            None => Opened::Session(Box::new(session), Box::new(contact)),
            Some((queue_id, user_id)) => {
                session.give_to(Mode::Human);
                Opened::Attended(Box::new(Attended { session, contact, queue_id, user_id }))
            }
        });
    }
    Ok(opened)
}

/// Takes the intents that the replies of contacts follow, one for each session that begins.
async fn intents_of<T: ConversationTx>(
    tx: &mut T,
    now: Timestamp,
    events: &[&IncomingEvent],
    frozen: &HashSet<SessionId>,
    contacts: &HashMap<String, Contact>,
) -> Result<HashMap<SessionId, BroadcastIntent>, StorageError> {
    let by_phone = events.iter().filter(|event| event.session_id.channel() == Channel::Phone);
    let replies: Vec<(&IncomingEvent, BTreeSet<String>)> = by_phone
        .filter(|event| !frozen.contains(&event.session_id))
        .filter(|event| event.messages.iter().any(|message| message.content.is_said()))
        .map(|event| {
            // However the message was addressed: the contact may be known by another form of its number.
            let party = event.session_id.contact_identity();
            let own = contacts.get(&party).map(|contact| contact.phone_number.clone());
            (*event, event.aliases.iter().cloned().chain(own).chain([party]).collect())
        })
        .collect();
    if replies.is_empty() {
        return Ok(HashMap::new());
    }
    let pairs: Vec<(&str, &str)> = replies
        .iter()
        .flat_map(|(event, names)| names.iter().map(|name| (event.phone_number_id.as_str(), name.as_str())))
        .collect();
    let open = tx.intents().find(&pairs, now - INTENT_LIFETIME).await?;
    if open.is_empty() {
        return Ok(HashMap::new());
    }
    let mut taken = HashMap::new();
    for (event, names) in &replies {
        let is_for = |one: &&OpenIntent| {
            one.intent.phone_number_id == event.phone_number_id && names.contains(&one.intent.recipient)
        };
        let of_contact: Vec<&OpenIntent> = open.iter().filter(is_for).collect();
        if let Some(intent) = choose(&of_contact, event.answered()) {
            taken.insert(event.session_id.clone(), intent.clone());
        }
    }
    let done: Vec<MessageId> = taken.values().map(|intent| intent.message_id.clone()).collect();
    tx.intents().delete(&done).await?;
    Ok(taken)
}

/// Returns the version that a session of this route begins on.
fn entry<'f>(flows: &'f Flows, route: &Route, id: &FlowId) -> Option<&'f Arc<CompiledFlow>> {
    if route.is_test { flows.tested(id) } else { flows.published(id) }
}

async fn routes_of<T: ConversationTx>(
    tx: &mut T,
    events: &[&IncomingEvent],
) -> Result<HashMap<String, Route>, StorageError> {
    let mut ids: Vec<String> = events.iter().map(|event| event.phone_number_id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    let routes = tx.routers().find_routes(&ids).await?;
    Ok(routes.into_iter().map(|route| (route.phone_number_id.clone(), route)).collect())
}

/// Returns the contacts by identity. Phone and social contacts are made here; those of the webchat were made by its
/// gateway (spec A 2.4).
async fn contacts_of<T: ConversationTx>(
    tx: &mut T,
    cx: &OpContext,
    events: &[&IncomingEvent],
    routes: &HashMap<String, Route>,
) -> Result<HashMap<String, Contact>, StorageError> {
    let identities: Vec<String> = events.iter().map(|event| event.session_id.contact_identity()).collect();
    let aliases = events.iter().flat_map(|event| event.aliases.iter().cloned());
    let asked: Vec<String> = identities.iter().cloned().chain(aliases).collect();
    let found = tx.contacts().find_by_phone_numbers(&asked).await?;
    let mut contacts: HashMap<String, Contact> =
        found.into_iter().map(|contact| (contact.phone_number.clone(), contact)).collect();
    for (event, identity) in events.iter().zip(&identities) {
        if !contacts.contains_key(identity)
            && let Some(known) = event.aliases.iter().find_map(|alias| contacts.get(alias)).cloned()
        {
            contacts.insert(identity.clone(), known);
        }
    }
    // In one order everywhere, so that two batches do not wait for each other.
    let mut missing = BTreeMap::new();
    for (event, identity) in events.iter().zip(identities) {
        let channel = event.session_id.channel();
        let ours = channel != Channel::Webchat && routes.contains_key(&event.phone_number_id);
        if ours && !contacts.contains_key(&identity) {
            missing.entry(identity).or_insert_with_key(|id| {
                let mut contact = Contact::create(cx, id.clone(), id.clone(), channel);
                contact.follow_profile(&event.contact_name);
                contact
            });
        }
    }
    lock(tx, &mut contacts).await?;
    if !missing.is_empty() {
        let (identities, new): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
        // Two forms of a number are given one contact. Others may have made it meanwhile, so it is locked too.
        let made = tx.contacts().insert_or_get_many(&new).await?;
        let mut made: HashMap<String, Contact> = identities.into_iter().zip(made).collect();
        lock(tx, &mut made).await?;
        contacts.extend(made);
    }
    let told = events.iter().filter_map(|event| {
        let contact = contacts.get(&event.session_id.contact_identity())?;
        (!event.aliases.is_empty()).then_some((*event, contact))
    });
    note_aliases(tx, cx, &told.collect::<Vec<_>>()).await?;
    Ok(contacts)
}

/// Stores the other identities of contacts that events tell, and that nobody has. A contact keeps also the identity of the
/// session, where it was found by another one.
pub(super) async fn note_aliases<T: ConversationTx>(
    tx: &mut T,
    cx: &OpContext,
    told: &[(&IncomingEvent, &Contact)],
) -> Result<(), StorageError> {
    let mut wanted: BTreeMap<String, &ContactId> = BTreeMap::new();
    for (event, contact) in told {
        let identities = event.aliases.iter().cloned().chain([event.session_id.contact_identity()]);
        let others = identities.filter(|identity| *identity != contact.phone_number);
        wanted.extend(others.map(|identity| (identity, &contact.id)));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let asked: Vec<String> = wanted.keys().cloned().collect();
    for known in tx.contacts().find_by_phone_numbers(&asked).await? {
        let contact = wanted.remove(&known.phone_number);
        if contact.is_some_and(|contact| *contact != known.id) {
            // Which of them it is, a person has to say: they can be merged.
            tracing::info!(contact = ?known.id, other = ?contact, "two contacts seem to be the same");
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let created_at = cx.now();
    let new = |(alias, contact): (String, &ContactId)| ContactAlias {
        contact_id: contact.clone(),
        alias,
        created_at,
    };
    let new: Vec<ContactAlias> = wanted.into_iter().map(new).collect();
    tx.contacts().add_aliases(&new).await
}

/// Locks the contacts and reads them as they are by then: a turn saves all of its changes.
async fn lock<T: ConversationTx>(
    tx: &mut T,
    contacts: &mut HashMap<String, Contact>,
) -> Result<(), StorageError> {
    let ids: BTreeSet<ContactId> = contacts.values().map(|contact| contact.id.clone()).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let locked = tx.contacts().find_many_for_update(&ids.into_iter().collect::<Vec<_>>()).await?;
    let locked: HashMap<&ContactId, &Contact> = locked.iter().map(|contact| (&contact.id, contact)).collect();
    for contact in contacts.values_mut() {
        // Deleted or merged since it was found: the same work may find another one.
        let now = *locked.get(&contact.id).ok_or(StorageError::Stale { entity: "contact" })?;
        *contact = now.clone();
    }
    Ok(())
}

/// Returns the open chat of each contact and router.
async fn chats_of<T: ConversationTx>(
    tx: &mut T,
    cx: &OpContext,
    events: &[&IncomingEvent],
    routes: &HashMap<String, Route>,
    contacts: &HashMap<String, Contact>,
) -> Result<HashMap<(ContactId, RouterId), Chat>, StorageError> {
    let mut wanted: Vec<(ContactId, RouterId)> = events
        .iter()
        .filter_map(|event| {
            let contact = contacts.get(&event.session_id.contact_identity())?;
            Some((contact.id.clone(), routes.get(&event.phone_number_id)?.router_id.clone()))
        })
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let new: Vec<Chat> =
        wanted.iter().map(|(contact, router)| Chat::open(cx, contact.clone(), router.clone())).collect();
    let chats = tx.chats().open_or_get_many(&new).await?;
    Ok(wanted.into_iter().zip(chats).collect())
}

/// Returns the number of the newest message of each chat that somebody has entered without a message.
async fn newest_messages<T: ConversationTx>(
    tx: &mut T,
    events: &[&IncomingEvent],
    chats: &HashMap<(ContactId, RouterId), Chat>,
) -> Result<HashMap<ChatId, i64>, StorageError> {
    if !events.iter().any(|event| event.is_opening()) {
        return Ok(HashMap::new());
    }
    let ids: Vec<ChatId> = chats.values().map(|chat| chat.id.clone()).collect();
    Ok(tx.messages().last_numbers(&ids).await?.into_iter().collect())
}

/// Loads the flows that may start, and returns the router of each.
async fn entry_flows<T: ConversationTx>(
    tx: &mut T,
    cache: &FlowCache,
    flows: &mut Flows,
    events: &[&IncomingEvent],
    routes: &HashMap<String, Route>,
    intents: &HashMap<SessionId, BroadcastIntent>,
) -> Result<HashMap<FlowId, RouterId>, StorageError> {
    let mut ids: Vec<FlowId> = routes.values().filter_map(|route| route.initial_flow_id.clone()).collect();
    ids.extend(intents.values().filter_map(|intent| intent.flow_id.clone()));
    ids.extend(events.iter().filter_map(|event| event.flow_id.clone()));
    ids.sort_unstable();
    ids.dedup();
    let found = cache.load_published(tx.flows(), flows, &ids).await?;
    Ok(found.into_iter().map(|flow| (flow.id, flow.router_id)).collect())
}
