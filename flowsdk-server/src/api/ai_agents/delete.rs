//! `DELETE /ai-agents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::AgentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::AiAgents;

/// Delete an AI agent
///
/// Its system prompts, its guardrails and the routes from it go with it. With `force` the routes to it go, too.
#[utoipa::path(
    delete, path = "/ai-agents/{id}", tag = "ai-agents",
    params(("id" = AgentId, Path, description = "The AI agent"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` counts its sessions, and names the routes that lead to it and \
            the flows that are published with it"),
    )
)]
pub(super) async fn delete_ai_agent(
    can: Can<marks::Flows, marks::Write>,
    State(agents): State<Arc<AiAgents>>,
    PathId(id): PathId<AgentId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    agents.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
