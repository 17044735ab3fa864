//! `POST /tickets/pickup`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::ticket::TicketView;
use serde::Serialize;
use utoipa::ToSchema;

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// What a user has picked up.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PickedUp {
    /// Null when no ticket waits in their queues.
    #[schema(required = true)]
    ticket: Option<TicketView>,
}

/// Pick up the next ticket
///
/// The oldest one that waits in a queue of yours. It is given to one agent only, however many ask at once.
#[utoipa::path(
    post, path = "/tickets/pickup", tag = "tickets",
    responses(
        (status = 200, description = "The ticket, if one waits", body = PickedUp),
        (status = 409, description = "`agent_limit_reached`: you have as many as your queues allow"),
    )
)]
pub(super) async fn pick_up_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
) -> Result<Reply<PickedUp>, ApiError> {
    let author = can.caller.author();
    let user = can.caller.authenticated().require_user()?;
    let ticket = desk.pick_up(by(&can, &author), user).await?;
    Ok(Reply(PickedUp { ticket: ticket.map(TicketView::from) }))
}
