//! What webhooks are told of, in the transaction of its cause.

use std::collections::{BTreeSet, HashMap};

use super::broker::NewEntry;
use super::outbox::{HasOutbox, Outbox};
use super::topic::Webhooks;
use crate::chat::HasChats;
use crate::event::{WebhookEvent, WebhookEventType, of_message, of_session, of_status, type_of};
use crate::fault::StorageError;
use crate::id::{ChatId, MessageId, RouterId};
use crate::message::{NewMessage, StatusReached};
use crate::session::Session;
use crate::time::Timestamp;

/// Publishes those of the events that a webhook takes, in the transaction of their cause.
///
/// # Errors
/// [`StorageError`].
pub async fn announce(
    outbox: &mut dyn Outbox,
    events: impl IntoIterator<Item = WebhookEvent> + Send,
) -> Result<(), StorageError> {
    let wanted = |event: &WebhookEvent| outbox.is_announced(&event.router_id, event.r#type);
    let entries: Vec<NewEntry> =
        events.into_iter().filter(wanted).map(|event| NewEntry::of::<Webhooks>(&event)).collect();
    if entries.is_empty() { Ok(()) } else { outbox.push_many(&entries).await }
}

/// Publishes that a session, which `session` is now, has another owner.
///
/// # Errors
/// [`StorageError`].
pub async fn announce_owner(
    outbox: &mut dyn Outbox,
    session: &Session,
    now: Timestamp,
) -> Result<(), StorageError> {
    announce(outbox, [of_session(WebhookEventType::SessionOwnerChanged, session, now)]).await
}

/// Publishes messages that were stored, each with its router and its number in the chat, if a webhook takes them.
///
/// # Errors
/// [`StorageError`].
pub async fn announce_messages(
    outbox: &mut dyn Outbox,
    stored: impl IntoIterator<Item = (&RouterId, &NewMessage, i64)> + Send,
) -> Result<(), StorageError> {
    let mut events = Vec::new();
    for (router, message, seq) in stored {
        let kind = type_of(message);
        if outbox.is_announced(router, kind) {
            events.push(of_message(kind, router, message, seq));
        }
    }
    announce(outbox, events).await
}

/// Publishes how far messages came, as it was stored at `now`, if a webhook of their router takes it. Asks for the routers
/// only if a webhook of any router does.
///
/// # Errors
/// [`StorageError`].
pub async fn announce_statuses<T: HasOutbox + HasChats>(
    tx: &mut T,
    reached: &[StatusReached],
    now: Timestamp,
) -> Result<(), StorageError> {
    if reached.is_empty() || !tx.outbox().is_announced_anywhere(WebhookEventType::MessageStatus) {
        return Ok(());
    }
    let messages: BTreeSet<&MessageId> = reached.iter().map(|status| &status.id).collect();
    let messages: Vec<MessageId> = messages.into_iter().cloned().collect();
    let chats = tx.chats().of_messages(&messages).await?;
    let routers: HashMap<ChatId, RouterId> =
        chats.into_iter().filter_map(|chat| Some((chat.id, chat.router_id?))).collect();
    let event = |status: &StatusReached| Some(of_status(routers.get(&status.chat_id)?, status, now));
    let events: Vec<WebhookEvent> = reached.iter().filter_map(event).collect();
    announce(tx.outbox(), events).await
}
