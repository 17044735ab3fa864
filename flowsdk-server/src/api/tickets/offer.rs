//! `POST /tickets/{id}/accept`, `POST /tickets/{id}/decline`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::ticket::TicketView;

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Accept a ticket that is offered to you
///
/// Of a queue with `acceptWithinSeconds`. A ticket that you have accepted already stays yours.
#[utoipa::path(
    post, path = "/tickets/{id}/accept", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses(
        (status = 200, description = "The ticket, which is yours", body = TicketView),
        (status = 409, description = "`ticket_not_offered`: it is not offered to you, or no longer; `ticket_closed`; \
            `ticket_assigned`: another agent has it"),
    )
)]
pub(super) async fn accept_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    let user = can.caller.authenticated().require_user()?;
    Ok(Reply(desk.accept(by(&can, &author), user, &id).await?.into()))
}

/// Decline a ticket that is offered to you
///
/// It is offered to the next agent, and to you not before a minute has passed.
#[utoipa::path(
    post, path = "/tickets/{id}/decline", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses(
        (status = 200, description = "The ticket, which may be offered to somebody else already", body = TicketView),
        (status = 409, description = "`ticket_not_offered`: it is not offered to you, or no longer; `ticket_closed`; \
            `ticket_assigned`: somebody has it, who may be you"),
    )
)]
pub(super) async fn decline_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    let user = can.caller.authenticated().require_user()?;
    Ok(Reply(desk.decline(by(&can, &author), user, &id).await?.into()))
}
