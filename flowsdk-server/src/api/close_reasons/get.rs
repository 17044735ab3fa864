//! `GET /close-reasons/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::close_reason::{CloseReason, CloseReasonId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::CloseReasons;

/// Show a close reason
#[utoipa::path(
    get, path = "/close-reasons/{id}", tag = "close-reasons",
    params(("id" = CloseReasonId, Path, description = "The close reason")),
    responses((status = 200, description = "The close reason", body = CloseReason))
)]
pub(super) async fn get_close_reason(
    can: Can<marks::Helpdesk, marks::Read>,
    State(reasons): State<Arc<CloseReasons>>,
    PathId(id): PathId<CloseReasonId>,
) -> Result<Reply<CloseReason>, ApiError> {
    Ok(Reply(reasons.get(can.reach(), &id).await?))
}
