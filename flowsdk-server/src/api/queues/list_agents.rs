//! `GET /queues/{id}/agents`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::QueueId;
use flowsdk_helpdesk::agent::DeskAgentView;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::{Presence, Queues};

/// The agents of a queue, in the order in which they became agents.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct QueueAgents {
    items: Vec<DeskAgentView>,
}

/// List the agents of a queue
///
/// All of them, with their presence.
#[utoipa::path(
    get, path = "/queues/{id}/agents", tag = "queues",
    params(("id" = QueueId, Path, description = "The queue")),
    responses((status = 200, description = "The agents", body = QueueAgents))
)]
pub(super) async fn list_queue_agents(
    can: Can<marks::Queues, marks::Read>,
    State(queues): State<Arc<Queues>>,
    State(presence): State<Arc<Presence>>,
    PathId(id): PathId<QueueId>,
) -> Result<Reply<QueueAgents>, ApiError> {
    let agents = queues.agents(can.reach(), &id).await?;
    Ok(Reply(QueueAgents { items: presence.of(agents).await? }))
}
