//! `PATCH /ai-agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::agent::{AiAgent, AiAgentChange};
use flowsdk_core::id::AgentId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AiAgents;

/// Change an AI agent
#[utoipa::path(
    patch, path = "/ai-agents/{id}", tag = "ai-agents",
    params(("id" = AgentId, Path, description = "The AI agent")),
    request_body = AiAgentChange,
    responses(
        (status = 200, description = "The AI agent", body = AiAgent),
        (status = 422, description = "`credential_unknown`"),
    )
)]
pub(super) async fn patch_ai_agent(
    can: Can<marks::Flows, marks::Write>,
    State(agents): State<Arc<AiAgents>>,
    PathId(id): PathId<AgentId>,
    Body(change): Body<AiAgentChange>,
) -> Result<Reply<AiAgent>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(agents.change(&author, reach, &id, change).await?))
}
