//! `DELETE /queues/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::Queues;

/// Delete a queue
///
/// Closed tickets keep its id. With `force` its open tickets close with `system`, so that their flows go on, and the rules
/// that lead to it go.
#[utoipa::path(
    delete, path = "/queues/{id}", tag = "queues",
    params(("id" = QueueId, Path, description = "The queue"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` counts its open tickets, and names the rules that lead to it \
            and the flows that are published with it"),
    )
)]
pub(super) async fn delete_queue(
    can: Can<marks::Queues, marks::Write>,
    State(queues): State<Arc<Queues>>,
    PathId(id): PathId<QueueId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    queues.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
