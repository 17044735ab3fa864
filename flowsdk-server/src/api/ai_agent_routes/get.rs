//! `GET /ai-agent-routes/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::route::{AgentRoute, AgentRouteId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AgentRoutes;

/// Show a route between agents
#[utoipa::path(
    get, path = "/ai-agent-routes/{id}", tag = "ai-agent-routes",
    params(("id" = AgentRouteId, Path, description = "The route between agents")),
    responses((status = 200, description = "The route between agents", body = AgentRoute))
)]
pub(super) async fn get_ai_agent_route(
    can: Can<marks::Flows, marks::Read>,
    State(routes): State<Arc<AgentRoutes>>,
    PathId(id): PathId<AgentRouteId>,
) -> Result<Reply<AgentRoute>, ApiError> {
    Ok(Reply(routes.get(can.reach(), &id).await?))
}
