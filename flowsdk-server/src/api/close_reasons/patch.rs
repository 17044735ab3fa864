//! `PATCH /close-reasons/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::close_reason::{CloseReason, CloseReasonChange, CloseReasonId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::CloseReasons;

/// Change a close reason
#[utoipa::path(
    patch, path = "/close-reasons/{id}", tag = "close-reasons",
    params(("id" = CloseReasonId, Path, description = "The close reason")),
    request_body = CloseReasonChange,
    responses((status = 200, description = "The close reason", body = CloseReason))
)]
pub(super) async fn patch_close_reason(
    can: Can<marks::Helpdesk, marks::Write>,
    State(reasons): State<Arc<CloseReasons>>,
    PathId(id): PathId<CloseReasonId>,
    Body(change): Body<CloseReasonChange>,
) -> Result<Reply<CloseReason>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(reasons.change(&author, reach, &id, change).await?))
}
