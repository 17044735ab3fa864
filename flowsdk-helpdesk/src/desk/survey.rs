//! Surveys: what contacts are asked when their ticket is resolved, and what they answer.

use std::collections::BTreeMap;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, say_all};
use flowsdk_core::event::{HelpdeskMessageEvent, OutgoingEvent, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::message::HasMessages;
use flowsdk_core::session::SessionId;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::Flow;

use crate::ticket::{HasTickets, Ticket, stored};

/// Reads what contacts wrote as answers to the surveys that wait for them, in the order of `wrote`. Returns what is said to
/// them, which whoever commits hands over.
///
/// # Errors
/// Nothing may be committed.
pub(crate) async fn read_answers<T: HasTickets + HasMessages + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    handover: &Handover,
    wrote: &[&HelpdeskMessageEvent],
) -> Result<Vec<OutgoingEvent>, StorageError> {
    let sessions: Vec<SessionId> = wrote.iter().map(|event| event.session_id.clone()).collect();
    let asked = tx.tickets().surveys_of_for_update(&sessions).await?;
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked: BTreeMap<SessionId, (Ticket, bool)> =
        asked.into_iter().filter_map(|ticket| Some((ticket.session_id.clone()?, (ticket, false)))).collect();
    let mut said: Vec<(RouterId, OutgoingEvent)> = Vec::new();
    for event in wrote {
        let Some((ticket, has_changed)) = asked.get_mut(&event.session_id) else { continue };
        for message in event.messages.iter().filter(|message| message.content.is_said()) {
            let key = message.dedupe_key(&event.session_id);
            if !ticket.awaits_answer(&key, event.timestamp) {
                continue;
            }
            *has_changed = true;
            let text = ticket.read_answer(key, message.content.as_text(), cx.now());
            if let Some(event) = text.and_then(|text| text_to(cx, ticket, text)) {
                said.push((ticket.router_id.clone(), event));
            }
        }
    }
    let changed: Vec<Ticket> =
        asked.into_values().filter_map(|(ticket, has_changed)| has_changed.then_some(ticket)).collect();
    say_all(tx, &mut said, handover).await?;
    save(tx, cx, &changed).await?;
    Ok(said.into_iter().map(|(_, event)| event).collect())
}

/// Stores tickets whose survey has come further. The flow goes on where it is over.
///
/// # Errors
/// Nothing may be committed.
pub(super) async fn save<T: HasTickets + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    tickets: &[Ticket],
) -> Result<(), StorageError> {
    if tickets.is_empty() {
        return Ok(());
    }
    stored::save(tx, cx, WebhookEventType::TicketUpdated, tickets).await?;
    let over = tickets.iter().filter_map(Ticket::hand_back_after_survey);
    let entries: Vec<NewEntry> = over.map(|event| NewEntry::of::<Flow>(&event)).collect();
    if entries.is_empty() { Ok(()) } else { tx.outbox().push_many(&entries).await }
}

/// Returns a text to the contact of a ticket; `None` for one without a session.
pub(super) fn text_to(cx: &OpContext, ticket: &Ticket, text: String) -> Option<OutgoingEvent> {
    let session_id = ticket.session_id.clone()?;
    let epoch = ticket.epoch.unwrap_or_default();
    Some(OutgoingEvent::text_of_flow(cx, session_id, ticket.chat_id.clone(), epoch, text))
}
