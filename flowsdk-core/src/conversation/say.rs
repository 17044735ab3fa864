//! Messages of people and agents in a conversation: stored like those of flows, and sent the same way.

use std::borrow::Borrow;

use super::Handover;
use crate::event::OutgoingEvent;
use crate::fault::StorageError;
use crate::id::{ChatId, RouterId};
use crate::message::{HasMessages, MessageStatus, NewMessage};
use crate::stream::announce::announce_messages;
use crate::stream::broker::NewEntry;
use crate::stream::outbox::HasOutbox;
use crate::stream::topic::{OutgoingChat, OutgoingPhone, OutgoingSocial, TopicName};

/// Stores a message to the contact of a router's chat and publishes it, in the transaction `tx`.
///
/// Returns the event with the number of the message. After the commit it goes to [`Handover::hand_over`].
///
/// # Errors
/// Those of [`say_all`].
pub async fn say<T: HasMessages + HasOutbox>(
    tx: &mut T,
    mut event: OutgoingEvent,
    (router_id, chat_id): (&RouterId, &ChatId),
    handover: &Handover,
) -> Result<OutgoingEvent, StorageError> {
    event.chat_id = Some(chat_id.clone());
    let mut said = [(router_id, event)];
    say_all(tx, &mut said, handover).await?;
    let [(_, event)] = said;
    Ok(event)
}

/// As [`say`], for messages to several chats, each with its router. An event without a chat is left out.
///
/// The events get the numbers of their messages.
///
/// # Errors
/// [`StorageError::Stale`] when another transaction has numbered a message of one of the chats meanwhile: the same work
/// succeeds when tried again.
pub async fn say_all<T: HasMessages + HasOutbox, R: Borrow<RouterId>>(
    tx: &mut T,
    said: &mut [(R, OutgoingEvent)],
    handover: &Handover,
) -> Result<(), StorageError> {
    let row = |(_, event): &(R, OutgoingEvent)| Some(row_of(event, event.chat_id.as_ref()?));
    let rows: Vec<NewMessage> = said.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let seqs = tx.messages().insert_many(&rows).await?;
    let with_chat = said.iter_mut().filter(|(_, event)| event.chat_id.is_some());
    let mut stored = Vec::with_capacity(rows.len());
    for (((router_id, event), row), seq) in with_chat.zip(&rows).zip(seqs) {
        event.seq = Some(seq);
        let router: &RouterId = (*router_id).borrow();
        stored.push((router, row, seq));
    }
    announce_messages(tx.outbox(), stored).await?;
    let published = said.iter().filter(|(_, event)| event.chat_id.is_some() && handover.publishes(event));
    let entries: Vec<NewEntry> = published.map(|(_, event)| entry_of(event)).collect();
    if entries.is_empty() { Ok(()) } else { tx.outbox().push_many(&entries).await }
}

impl Handover {
    /// Passes on a message that the outbox does not take, after its commit.
    pub fn hand_over(&self, event: OutgoingEvent) {
        if let Self::Direct(sink) = self
            && !self.publishes(&event)
        {
            sink.deliver(vec![event]);
        }
    }

    /// Returns whether the outbox takes a message.
    pub(super) fn publishes(&self, event: &OutgoingEvent) -> bool {
        matches!(self, Self::Stream) || !is_to_chat(event)
    }
}

/// Returns the row of a message. No provider can refuse one on the web chat: it is on its way to the visitor with its
/// commit.
pub(super) fn row_of(event: &OutgoingEvent, chat_id: &ChatId) -> NewMessage {
    let status = if is_to_chat(event) { MessageStatus::Sent } else { MessageStatus::Pending };
    event.to_message(chat_id, status)
}

/// Returns the entry of a message in the stream of its channel.
pub(super) fn entry_of(event: &OutgoingEvent) -> NewEntry {
    match TopicName::outgoing(&event.session_id) {
        TopicName::OutgoingChat => NewEntry::of::<OutgoingChat>(event),
        TopicName::OutgoingSocial => NewEntry::of::<OutgoingSocial>(event),
        _ => NewEntry::of::<OutgoingPhone>(event),
    }
}

fn is_to_chat(event: &OutgoingEvent) -> bool {
    TopicName::outgoing(&event.session_id) == TopicName::OutgoingChat
}
