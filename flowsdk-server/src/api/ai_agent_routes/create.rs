//! `POST /ai-agent-routes`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::route::{AgentRoute, NewAgentRoute};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::AgentRoutes;

/// Create a route between agents
#[utoipa::path(
    post, path = "/ai-agent-routes", tag = "ai-agent-routes",
    params(IdempotencyParams),
    request_body = NewAgentRoute,
    responses(
        (status = 201, description = "The route between agents", body = AgentRoute),
        (status = 409, description = "`route_taken`; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `ai_agent_unknown`"),
    )
)]
pub(super) async fn create_ai_agent_route(
    can: Can<marks::Flows, marks::Write>,
    State(routes): State<Arc<AgentRoutes>>,
    body: Idempotent<NewAgentRoute>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &AgentRoute| stored(made) });
    Ok(match routes.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
