//! Storing tickets, which the webhooks of their router hear of.

use flowsdk_core::context::OpContext;
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::stream::announce::announce;
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use serde_json::json;

use super::{HasTickets, ServiceChange, ServiceStatus, Ticket, TicketView};

/// Stores new tickets.
///
/// # Errors
/// Those of [`TicketRepository::insert_many`](super::TicketRepository::insert_many).
pub(crate) async fn insert<T: HasTickets + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    tickets: &[Ticket],
) -> Result<(), StorageError> {
    tx.tickets().insert_many(tickets).await?;
    let happened = tickets.iter().flat_map(|ticket| of_new(ticket).map(move |kind| (ticket, kind)));
    tell(tx.outbox(), cx, happened).await
}

/// Rewrites tickets to which the same happened.
///
/// # Errors
/// [`StorageError`].
pub(crate) async fn save<T: HasTickets + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    happened: WebhookEventType,
    tickets: &[Ticket],
) -> Result<(), StorageError> {
    tx.tickets().save_many(tickets).await?;
    tell(tx.outbox(), cx, tickets.iter().map(|ticket| (ticket, happened))).await
}

/// Rewrites who has tickets, and to whom they are offered: the same happened to all of them, and nothing else has changed.
///
/// # Errors
/// [`StorageError`].
pub(crate) async fn save_holders<T: HasTickets + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    happened: WebhookEventType,
    tickets: &[Ticket],
) -> Result<(), StorageError> {
    tx.tickets().save_holders(tickets).await?;
    tell(tx.outbox(), cx, tickets.iter().map(|ticket| (ticket, happened))).await
}

/// Rewrites tickets of whose service level something became by itself.
///
/// # Errors
/// [`StorageError`].
pub(crate) async fn save_service<T: HasTickets + HasOutbox>(
    tx: &mut T,
    cx: &OpContext,
    changed: &[(Ticket, Vec<ServiceChange>)],
) -> Result<(), StorageError> {
    let tickets: Vec<Ticket> = changed.iter().map(|(ticket, _)| ticket.clone()).collect();
    tx.tickets().save_many(&tickets).await?;
    let mut events = Vec::new();
    for (ticket, changes) in changed {
        for change in changes {
            let kind = match change.status {
                ServiceStatus::Warned => WebhookEventType::TicketServiceLevelWarned,
                _ => WebhookEventType::TicketServiceLevelBreached,
            };
            if tx.outbox().is_announced(&ticket.router_id, kind) {
                let mut event = event(cx, ticket, kind);
                event.timestamp = cx.now();
                event.data["target"] = json!(change.target);
                events.push(event);
            }
        }
    }
    announce(tx.outbox(), events).await
}

async fn tell(
    outbox: &mut dyn Outbox,
    cx: &OpContext,
    happened: impl Iterator<Item = (&Ticket, WebhookEventType)> + Send,
) -> Result<(), StorageError> {
    let mut events = Vec::new();
    for (ticket, kind) in happened {
        if outbox.is_announced(&ticket.router_id, kind) {
            events.push(event(cx, ticket, kind));
        }
    }
    announce(outbox, events).await
}

/// Returns what happens when a ticket is stored. One that is given to a user at once is opened first; one that was
/// replaced before it was stored has ended, too.
fn of_new(ticket: &Ticket) -> impl Iterator<Item = WebhookEventType> + use<> {
    let assigned = ticket.assigned_at.map(|_| WebhookEventType::TicketAssigned);
    let closed = (!ticket.is_open()).then_some(WebhookEventType::TicketClosed);
    [Some(WebhookEventType::TicketOpened), assigned, closed].into_iter().flatten()
}

fn event(cx: &OpContext, ticket: &Ticket, kind: WebhookEventType) -> WebhookEvent {
    WebhookEvent {
        id: cx.ids().next_id(),
        r#type: kind,
        router_id: ticket.router_id.clone(),
        key: ticket.chat_id.to_string(),
        timestamp: ticket.updated_at,
        data: json!({ "ticket": TicketView::from(ticket.clone()) }),
    }
}
