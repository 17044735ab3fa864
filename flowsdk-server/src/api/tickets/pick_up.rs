//! `POST /tickets/pickup`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::ticket::TicketView;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::by;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Desk;

/// What a user has picked up.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PickedUp {
    /// Null when no ticket waits in their queues.
    #[schema(required = true)]
    ticket: Option<TicketView>,
}

/// Where the ticket waits.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct PickUpParams {
    /// In this queue of yours; in any of them, if it is not given.
    queue_id: Option<QueueId>,
}

/// The queue that is asked for.
#[derive(Debug)]
pub(super) struct From(Option<QueueId>);

impl FromQuery for From {
    fn read(query: &mut QueryReader) -> Self {
        Self(query.id("queueId", QueueId::parse))
    }
}

/// Pick up the next ticket
///
/// The oldest one that waits in a queue of yours. It is given to one agent only, however many ask at once.
#[utoipa::path(
    post, path = "/tickets/pickup", tag = "tickets",
    params(PickUpParams),
    responses(
        (status = 200, description = "The ticket, if one waits", body = PickedUp),
        (status = 409, description = "`agent_limit_reached`: you have as many as your queues allow"),
        (status = 422, description = "`agent_not_in_queue`: you do not work in the queue"),
    )
)]
pub(super) async fn pick_up_ticket(
    can: Can<marks::Helpdesk, marks::Write>,
    State(desk): State<Arc<Desk>>,
    Query(From(queue)): Query<From>,
) -> Result<Reply<PickedUp>, ApiError> {
    let author = can.caller.author();
    let user = can.caller.authenticated().require_user()?;
    let ticket = desk.pick_up_from(by(&can, &author), user, queue.as_ref()).await?;
    Ok(Reply(PickedUp { ticket: ticket.map(TicketView::from) }))
}
