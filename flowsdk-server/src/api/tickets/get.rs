//! `GET /tickets/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::ticket::TicketView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Show a ticket
///
/// Its conversation is that of its chat: `GET /chats/{id}/messages`. The tickets before it are `GET /tickets?chatId=`.
#[utoipa::path(
    get, path = "/tickets/{id}", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses((status = 200, description = "The ticket", body = TicketView))
)]
pub(super) async fn get_ticket(
    can: Can<marks::Helpdesk, marks::Read>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TicketView>, ApiError> {
    Ok(Reply(desk.get(can.reach(), &id).await?.into()))
}
