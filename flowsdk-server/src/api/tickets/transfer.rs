//! `POST /tickets/{id}/transfer`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::desk::TransferTicket;
use flowsdk_helpdesk::ticket::TicketView;

use super::by;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Transfer a ticket
///
/// It closes, and goes on as another one: with an agent of the router, or waiting in a queue of it. The agents of an AI ticket
/// are asked to hand over: the answer is that ticket as it is, and the one for people is opened a moment later.
#[utoipa::path(
    post, path = "/tickets/{id}/transfer", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    request_body = TransferTicket,
    responses(
        (status = 200, description = "The ticket with which it goes on", body = TicketView),
        (status = 409, description = "`ticket_closed`; `ticket_handed_over`: its AI agents were asked already"),
        (status = 422, description = "`agent_unknown`, `queue_unknown`"),
    )
)]
pub(super) async fn transfer_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
    Body(command): Body<TransferTicket>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(desk.transfer(by(&can, &author), &id, command).await?.into()))
}
