//! `PUT /tickets/{id}/tags`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::desk::TagTicket;
use flowsdk_helpdesk::ticket::TicketView;

use super::by;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Tag a ticket
///
/// The tags take the place of those that it has. They stay with the conversation when it is transferred.
#[utoipa::path(
    put, path = "/tickets/{id}/tags", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    request_body = TagTicket,
    responses(
        (status = 200, description = "The ticket", body = TicketView),
        (status = 409, description = "`ticket_closed`"),
        (status = 422, description = "`tag_unknown`: the router has no such tag"),
    )
)]
pub(super) async fn tag_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
    Body(command): Body<TagTicket>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(desk.tag(by(&can, &author), &id, command).await?.into()))
}
