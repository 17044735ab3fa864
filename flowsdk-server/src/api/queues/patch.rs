//! `PATCH /queues/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::queue::{Queue, QueueChange};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Queues;

/// Change a queue
#[utoipa::path(
    patch, path = "/queues/{id}", tag = "queues",
    params(("id" = QueueId, Path, description = "The queue")),
    request_body = QueueChange,
    responses(
        (status = 200, description = "The queue", body = Queue),
        (status = 409, description = "`name_taken`"),
    )
)]
pub(super) async fn patch_queue(
    can: Can<marks::Queues, marks::Write>,
    State(queues): State<Arc<Queues>>,
    PathId(id): PathId<QueueId>,
    Body(change): Body<QueueChange>,
) -> Result<Reply<Queue>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(queues.change(&author, reach, &id, change).await?))
}
