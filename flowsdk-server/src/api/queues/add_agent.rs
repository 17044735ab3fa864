//! `PUT /queues/{id}/agents/{agentId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::agent::DeskAgentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::state::Queues;

/// Let an agent work in a queue
///
/// Tickets that wait there are given to them if they are online.
#[utoipa::path(
    put, path = "/queues/{id}/agents/{agentId}", tag = "queues",
    params(
        ("id" = QueueId, Path, description = "The queue"),
        ("agentId" = DeskAgentId, Path, description = "An agent of its router")
    ),
    responses(
        (status = 204, description = "They work in it"),
        (status = 422, description = "`agent_unknown`: the router has no such agent"),
    )
)]
pub(super) async fn add_queue_agent(
    can: Can<marks::Queues, marks::Write>,
    State(queues): State<Arc<Queues>>,
    PathIds(id, agent): PathIds<QueueId, DeskAgentId>,
) -> Result<StatusCode, ApiError> {
    queues.add_agent(&can.caller.author(), can.reach(), &id, &agent).await?;
    Ok(StatusCode::NO_CONTENT)
}
