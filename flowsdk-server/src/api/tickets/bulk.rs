//! `POST /tickets/bulk/transfer`, `POST /tickets/bulk/close`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::fault::Fault as _;
use flowsdk_core::id::{QueueId, TicketId, UserId};
use flowsdk_helpdesk::desk::{CloseTicket, TransferTicket};
use flowsdk_helpdesk::tag::TagId;
use flowsdk_helpdesk::ticket::{Ticket, TicketError, TicketView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::by;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Tickets to transfer, and where they are to go on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TransferTickets {
    /// The tickets.
    #[schema(max_items = 100)]
    ticket_ids: Vec<TicketId>,
    /// The user who gets them: an agent of their router.
    to_user_id: Option<UserId>,
    /// The queue in which they wait: an active one of their router.
    to_queue_id: Option<QueueId>,
}

/// Tickets to close.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CloseTickets {
    /// The tickets.
    #[schema(max_items = 100)]
    ticket_ids: Vec<TicketId>,
    /// Why; the flows read it as `ticket.exit.key`. The key of an active close reason, where a router has any.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "solved")]
    reason: Option<String>,
    /// The tags of each from now on; those that it has, if they are not given.
    #[schema(max_items = 20)]
    tag_ids: Option<Vec<TagId>>,
}

/// What became of one of many tickets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BulkItem {
    /// The ticket that was named.
    ticket_id: TicketId,
    /// The ticket after it, or with which it goes on; null where nothing was done.
    #[schema(required = true)]
    ticket: Option<TicketView>,
    /// Why nothing was done, as the route of one ticket says it; null where it was.
    #[schema(required = true, example = "ticket_closed")]
    code: Option<String>,
}

/// What became of many tickets, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BulkOutcome {
    items: Vec<BulkItem>,
}

impl BulkOutcome {
    /// Adds an outcome. A failure of the server ends the whole.
    fn add(&mut self, ticket_id: TicketId, outcome: Result<Ticket, TicketError>) -> Result<(), ApiError> {
        let (ticket, code) = match outcome {
            Ok(ticket) => (Some(ticket.into()), None),
            Err(error @ TicketError::Storage(_)) => return Err(error.into()),
            Err(error) => (None, Some(error.code().to_owned())),
        };
        self.items.push(BulkItem { ticket_id, ticket, code });
        Ok(())
    }
}

/// Transfer many tickets
///
/// One after the other, each as `POST /tickets/{id}/transfer` does. One that cannot be transferred stays as it is, and its
/// `code` says why; the others are transferred all the same.
#[utoipa::path(
    post, path = "/tickets/bulk/transfer", tag = "tickets",
    request_body = TransferTickets,
    responses((status = 200, description = "What became of each", body = BulkOutcome))
)]
pub(super) async fn transfer_tickets(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    Body(body): Body<TransferTickets>,
) -> Result<Reply<BulkOutcome>, ApiError> {
    let author = can.caller.author();
    let TransferTickets { ticket_ids, to_user_id, to_queue_id } = body;
    let mut done = BulkOutcome { items: Vec::with_capacity(ticket_ids.len()) };
    for id in ticket_ids {
        let command = TransferTicket { to_user_id: to_user_id.clone(), to_queue_id: to_queue_id.clone() };
        let outcome = desk.transfer(by(&can, &author), &id, command).await;
        done.add(id, outcome)?;
    }
    Ok(Reply(done))
}

/// Close many tickets
///
/// One after the other, each as `POST /tickets/{id}/close` does. One that cannot be closed stays as it is, and its `code`
/// says why; the others are closed all the same.
#[utoipa::path(
    post, path = "/tickets/bulk/close", tag = "tickets",
    request_body = CloseTickets,
    responses((status = 200, description = "What became of each", body = BulkOutcome))
)]
pub(super) async fn close_tickets(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    Body(body): Body<CloseTickets>,
) -> Result<Reply<BulkOutcome>, ApiError> {
    let author = can.caller.author();
    let CloseTickets { ticket_ids, reason, tag_ids } = body;
    let command = CloseTicket { reason, tag_ids, jump_target: None };
    let mut done = BulkOutcome { items: Vec::with_capacity(ticket_ids.len()) };
    for (id, outcome) in desk.close_many(by(&can, &author), ticket_ids, &command).await? {
        done.add(id, outcome)?;
    }
    Ok(Reply(done))
}
