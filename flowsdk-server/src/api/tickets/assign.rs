//! `POST /tickets/{id}/assign`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{TicketId, UserId};
use flowsdk_helpdesk::ticket::TicketView;
use serde::Deserialize;
use utoipa::ToSchema;

use super::by;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// Whom to give a ticket to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AssignTicket {
    /// An agent who works in its queue; without it the queue chooses among those who are online.
    user_id: Option<UserId>,
}

/// Assign a waiting ticket
///
/// To an agent, or to whom the strategy of its queue chooses. Where nobody has room, it stays `waiting`.
#[utoipa::path(
    post, path = "/tickets/{id}/assign", tag = "tickets",
    params(("id" = TicketId, Path, description = "The ticket")),
    request_body = AssignTicket,
    responses(
        (status = 200, description = "The ticket", body = TicketView),
        (status = 409, description = "`ticket_closed`; `ticket_assigned`: another agent has it; \
            `ticket_of_ai_agent`: it is transferred, not assigned; `agent_limit_reached`"),
        (status = 422, description = "`agent_not_in_queue`"),
    )
)]
pub(super) async fn assign_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    PathId(id): PathId<TicketId>,
    Body(to): Body<AssignTicket>,
) -> Result<Reply<TicketView>, ApiError> {
    let author = can.caller.author();
    Ok(Reply(desk.assign(by(&can, &author), &id, to.user_id.as_ref()).await?.into()))
}
