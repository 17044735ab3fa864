//! `DELETE /queues/{id}/agents/{agentId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::agent::DeskAgentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::state::Queues;

/// Take an agent out of a queue
///
/// Tickets that they have stay theirs.
#[utoipa::path(
    delete, path = "/queues/{id}/agents/{agentId}", tag = "queues",
    params(
        ("id" = QueueId, Path, description = "The queue"),
        ("agentId" = DeskAgentId, Path, description = "An agent who works in it")
    ),
    responses(
        (status = 204, description = "They do not work in it"),
        (status = 422, description = "`agent_unknown`: they did not work in it"),
    )
)]
pub(super) async fn remove_queue_agent(
    can: Can<marks::Queues, marks::Write>,
    State(queues): State<Arc<Queues>>,
    PathIds(id, agent): PathIds<QueueId, DeskAgentId>,
) -> Result<StatusCode, ApiError> {
    queues.remove_agent(&can.caller.author(), can.reach(), &id, &agent).await?;
    Ok(StatusCode::NO_CONTENT)
}
