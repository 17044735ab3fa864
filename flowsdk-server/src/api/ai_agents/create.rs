//! `POST /ai-agents`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::agent::{AiAgent, NewAiAgent};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::AiAgents;

/// Create an AI agent
#[utoipa::path(
    post, path = "/ai-agents", tag = "ai-agents",
    params(IdempotencyParams),
    request_body = NewAiAgent,
    responses(
        (status = 201, description = "The AI agent", body = AiAgent),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `credential_unknown`"),
    )
)]
pub(super) async fn create_ai_agent(
    can: Can<marks::Flows, marks::Write>,
    State(agents): State<Arc<AiAgents>>,
    body: Idempotent<NewAiAgent>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &AiAgent| stored(made) });
    Ok(match agents.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
