//! `POST /tickets/{id}/close`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::desk::CloseTicket;
use flowsdk_helpdesk::ticket::TicketView;

use super::by;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Close a ticket
///
/// The flow of the conversation goes on: at the outputs of the block that handed over, or at `jumpTarget`.
#[utoipa::path(
    post, path = "/tickets/{id}/close", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    request_body = CloseTicket,
    responses(
        (status = 200, description = "The ticket", body = TicketView),
        (status = 409, description = "`ticket_closed`; `ticket_waiting`: nobody has it yet; \
            `ticket_handed_over`: its AI agents were asked to hand it to people"),
        (
            status = 422,
            description = "`block_not_found`: no published flow of the router has the block; `close_reason_unknown`: the \
                router has close reasons, and `reason` is the key of no active one; `tag_unknown`"
        ),
    )
)]
pub(super) async fn close_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
    Body(command): Body<CloseTicket>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(desk.close(by(&can, &author), &id, command).await?.into()))
}
