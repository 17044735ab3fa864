//! `GET /tickets/{id}/targets`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::TicketId;
use flowsdk_helpdesk::board::TransferTargets;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Boards;

/// List to whom a ticket can go
///
/// The active queues and the agents of its router, with what they have: for agents, who may not read the administration of
/// queues.
#[utoipa::path(
    get, path = "/tickets/{id}/targets", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    responses((status = 200, description = "The queues and agents", body = TransferTargets))
)]
pub(super) async fn list_ticket_targets(
    can: Can<marks::Helpdesk, marks::Read>,
    State(boards): State<Arc<Boards>>,
    PathId(id): PathId<TicketId>,
) -> Result<Reply<TransferTargets>, ApiError> {
    Ok(Reply(boards.targets(can.reach(), &id).await?))
}
