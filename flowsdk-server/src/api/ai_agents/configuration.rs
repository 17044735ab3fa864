//! `GET /ai-agents/{id}/configuration`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::configuration::AgentConfiguration;
use flowsdk_core::id::AgentId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AiAgents;

/// Show the configuration of an AI agent
///
/// What a turn that began now would work with, and what keeps the agent from working as it was probably meant.
#[utoipa::path(
    get, path = "/ai-agents/{id}/configuration", tag = "ai-agents",
    params(("id" = AgentId, Path, description = "The AI agent")),
    responses((status = 200, description = "The configuration", body = AgentConfiguration))
)]
pub(super) async fn get_ai_agent_configuration(
    can: Can<marks::Flows, marks::Read>,
    State(agents): State<Arc<AiAgents>>,
    PathId(id): PathId<AgentId>,
) -> Result<Reply<AgentConfiguration>, ApiError> {
    Ok(Reply(agents.configuration(can.reach(), &id).await?))
}
