//! What webhooks are told of, in the transaction of its cause.

use super::broker::NewEntry;
use super::outbox::Outbox;
use super::topic::Webhooks;
use crate::event::{WebhookEvent, of_message, type_of};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::message::NewMessage;

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
