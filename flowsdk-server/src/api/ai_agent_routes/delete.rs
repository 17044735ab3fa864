//! `DELETE /ai-agent-routes/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::route::AgentRouteId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::AgentRoutes;

/// Delete a route between agents
#[utoipa::path(
    delete, path = "/ai-agent-routes/{id}", tag = "ai-agent-routes",
    params(("id" = AgentRouteId, Path, description = "The route between agents")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_ai_agent_route(
    can: Can<marks::Flows, marks::Write>,
    State(routes): State<Arc<AgentRoutes>>,
    PathId(id): PathId<AgentRouteId>,
) -> Result<StatusCode, ApiError> {
    routes.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
