//! `DELETE /close-reasons/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::close_reason::CloseReasonId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::CloseReasons;

/// Delete a close reason
#[utoipa::path(
    delete, path = "/close-reasons/{id}", tag = "close-reasons",
    params(("id" = CloseReasonId, Path, description = "The close reason")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_close_reason(
    can: Can<marks::Helpdesk, marks::Write>,
    State(reasons): State<Arc<CloseReasons>>,
    PathId(id): PathId<CloseReasonId>,
) -> Result<StatusCode, ApiError> {
    reasons.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
