//! `GET /queues/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::queue::Queue;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Queues;

/// Show a queue
#[utoipa::path(
    get, path = "/queues/{id}", tag = "queues",
    params(("id" = QueueId, Path, description = "The queue")),
    responses((status = 200, description = "The queue", body = Queue))
)]
pub(super) async fn get_queue(
    can: Can<marks::Queues, marks::Read>,
    State(queues): State<Arc<Queues>>,
    PathId(id): PathId<QueueId>,
) -> Result<Reply<Queue>, ApiError> {
    Ok(Reply(queues.get(can.reach(), &id).await?))
}
