//! `GET /helpdesk/board`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_helpdesk::board::{Board, BoardFilter};
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Boards;

/// Whose board.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct BoardParams {
    /// The router.
    router_id: RouterId,
    /// Tickets of this queue only.
    queue_id: Option<QueueId>,
    /// Tickets of this user only.
    assigned_user_id: Option<UserId>,
}

/// Whose board is wanted; nothing when the query does not say.
#[derive(Debug)]
pub(super) struct Wanted(Option<BoardFilter>);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let router_id = query.required_id("routerId", RouterId::parse);
        let queue_id = query.id("queueId", QueueId::parse);
        let assigned_user_id = query.id("assignedUserId", UserId::parse);
        Self(router_id.map(|router_id| BoardFilter { router_id, queue_id, assigned_user_id }))
    }
}

/// Show the board of a router
///
/// Its tickets by their states, with counts and cards, and its queues and agents with what they have. Today begins at
/// midnight in the time zone of the router. Further tickets are in `GET /tickets`.
#[utoipa::path(
    get, path = "/helpdesk/board", tag = "helpdesk",
    params(BoardParams),
    responses(
        (status = 200, description = "The board", body = Board),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn show_board(
    can: Can<marks::Helpdesk, marks::Read>,
    State(boards): State<Arc<Boards>>,
    Query(Wanted(filter)): Query<Wanted>,
) -> Result<Reply<Board>, ApiError> {
    let filter = can.admit(filter.ok_or_else(ApiError::internal)?)?;
    Ok(Reply(boards.board(&filter).await?))
}
