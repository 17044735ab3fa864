//! `GET /ai-agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::agent::AiAgent;
use flowsdk_core::id::AgentId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AiAgents;

/// Show an AI agent
#[utoipa::path(
    get, path = "/ai-agents/{id}", tag = "ai-agents",
    params(("id" = AgentId, Path, description = "The AI agent")),
    responses((status = 200, description = "The AI agent", body = AiAgent))
)]
pub(super) async fn get_ai_agent(
    can: Can<marks::Flows, marks::Read>,
    State(agents): State<Arc<AiAgents>>,
    PathId(id): PathId<AgentId>,
) -> Result<Reply<AiAgent>, ApiError> {
    Ok(Reply(agents.get(can.reach(), &id).await?))
}
