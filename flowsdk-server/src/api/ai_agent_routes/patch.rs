//! `PATCH /ai-agent-routes/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::route::{AgentRoute, AgentRouteChange, AgentRouteId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::AgentRoutes;

/// Change a route between agents
#[utoipa::path(
    patch, path = "/ai-agent-routes/{id}", tag = "ai-agent-routes",
    params(("id" = AgentRouteId, Path, description = "The route between agents")),
    request_body = AgentRouteChange,
    responses(
        (status = 200, description = "The route between agents", body = AgentRoute),
    )
)]
pub(super) async fn patch_ai_agent_route(
    can: Can<marks::Flows, marks::Write>,
    State(routes): State<Arc<AgentRoutes>>,
    PathId(id): PathId<AgentRouteId>,
    Body(change): Body<AgentRouteChange>,
) -> Result<Reply<AgentRoute>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(routes.change(&author, reach, &id, change).await?))
}
