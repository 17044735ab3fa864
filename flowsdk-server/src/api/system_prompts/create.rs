//! `POST /system-prompts`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::prompt::{NewSystemPrompt, SystemPrompt};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::SystemPrompts;

/// Create a system prompt
#[utoipa::path(
    post, path = "/system-prompts", tag = "system-prompts",
    params(IdempotencyParams),
    request_body = NewSystemPrompt,
    responses(
        (status = 201, description = "The system prompt", body = SystemPrompt),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `ai_agent_unknown`"),
    )
)]
pub(super) async fn create_system_prompt(
    can: Can<marks::Flows, marks::Write>,
    State(prompts): State<Arc<SystemPrompts>>,
    body: Idempotent<NewSystemPrompt>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &SystemPrompt| stored(made) });
    Ok(match prompts.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
