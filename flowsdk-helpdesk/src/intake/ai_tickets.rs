//! What AI agents say of their tickets, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use flowsdk_core::context::OpContext;
use flowsdk_core::event::{AiTicketEvent, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, TicketId};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::topic::Summary;

use super::IntakeTx;
use super::handoffs::Locked;
use crate::ticket::{CloseKind, Closing, Ticket, stored};

/// Opens, changes and closes the tickets of AI sessions, in the order of the events. An event that comes again changes
/// nothing.
///
/// # Errors
/// Nothing may be committed.
pub(super) async fn take<T: IntakeTx>(
    tx: &mut T,
    cx: &OpContext,
    events: &[&AiTicketEvent],
    locked: &Locked,
) -> Result<(), StorageError> {
    if events.is_empty() {
        return Ok(());
    }
    let mut following = Following::read(tx, events, locked).await?;
    for event in events {
        following.follow(event);
    }
    following.write(tx, cx).await
}

/// A ticket, and what becomes of it.
struct Followed {
    ticket: Ticket,
    is_new: bool,
    has_changed: bool,
}

/// The tickets that a batch of events is about.
struct Following<'a> {
    tickets: BTreeMap<TicketId, Followed>,
    locked: &'a Locked,
}

impl<'a> Following<'a> {
    async fn read<T: IntakeTx>(
        tx: &mut T,
        events: &[&AiTicketEvent],
        locked: &'a Locked,
    ) -> Result<Self, StorageError> {
        let ids: BTreeSet<TicketId> = events.iter().map(|event| event.ticket_id.clone()).collect();
        let ids: Vec<TicketId> = ids.into_iter().collect();
        let created = events.iter().filter(|event| event.opens());
        let chats: BTreeSet<ChatId> = created.map(|event| event.chat_id.clone()).collect();
        let chats: Vec<ChatId> = chats.into_iter().collect();
        let found = tx.tickets().of_agents_for_update(&ids, &chats).await?;
        let followed =
            |ticket: Ticket| (ticket.id.clone(), Followed { ticket, is_new: false, has_changed: false });
        Ok(Self { tickets: found.into_iter().map(followed).collect(), locked })
    }

    fn follow(&mut self, event: &AiTicketEvent) {
        if let Some(followed) = self.tickets.get_mut(&event.ticket_id) {
            followed.has_changed |= followed.ticket.follow(event);
            return;
        }
        // A contact who was deleted gets no ticket.
        let is_there = self.locked.sessions.contains_key(&event.session_id);
        let ticket = Ticket::of_ai_session(event).filter(|_| is_there);
        let Some(mut ticket) = ticket else {
            tracing::debug!(ticket = %event.ticket_id, "an AI ticket is not there");
            return;
        };
        ticket.previous_ticket_id = self.end_orphan(event);
        let followed = Followed { ticket, is_new: true, has_changed: false };
        self.tickets.insert(event.ticket_id.clone(), followed);
    }

    /// Closes the ticket that agents of a session that was begun anew have left open, and returns its id.
    fn end_orphan(&mut self, event: &AiTicketEvent) -> Option<TicketId> {
        let is_orphan =
            |followed: &&mut Followed| followed.ticket.is_open() && followed.ticket.chat_id == event.chat_id;
        let orphan = self.tickets.values_mut().find(is_orphan)?;
        let closing = Closing::by_system(CloseKind::System);
        orphan.has_changed |= orphan.ticket.close(&closing, event.timestamp).is_ok();
        Some(orphan.ticket.id.clone())
    }

    /// Writes it all: tickets that end before those that take their place, since a chat has one open AI ticket.
    async fn write<T: IntakeTx>(self, tx: &mut T, cx: &OpContext) -> Result<(), StorageError> {
        let (mut closed, mut updated, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for Followed { ticket, is_new, has_changed } in self.tickets.into_values() {
            match (is_new, ticket.is_open()) {
                (true, _) => new.push(ticket),
                (false, true) if has_changed => updated.push(ticket),
                (false, false) if has_changed => closed.push(ticket),
                (false, _) => {}
            }
        }
        let ended = closed.iter().chain(new.iter().filter(|ticket| !ticket.is_open()));
        // The executor has given the session on itself.
        let requests = ended.filter_map(Ticket::summary_request);
        let requests: Vec<NewEntry> = requests.map(|request| NewEntry::of::<Summary>(&request)).collect();
        for (kind, tickets) in
            [(WebhookEventType::TicketClosed, &closed), (WebhookEventType::TicketUpdated, &updated)]
        {
            if !tickets.is_empty() {
                stored::save(tx, cx, kind, tickets).await?;
            }
        }
        if !new.is_empty() {
            stored::insert(tx, cx, &new).await?;
        }
        if requests.is_empty() { Ok(()) } else { tx.outbox().push_many(&requests).await }
    }
}
