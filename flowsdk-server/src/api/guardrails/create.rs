//! `POST /guardrails`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::guardrail::{Guardrail, NewGuardrail};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Guardrails;

/// Create a guardrail
#[utoipa::path(
    post, path = "/guardrails", tag = "guardrails",
    params(IdempotencyParams),
    request_body = NewGuardrail,
    responses(
        (status = 201, description = "The guardrail", body = Guardrail),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`, `ai_agent_unknown`, `guardrail_rules_invalid`"),
    )
)]
pub(super) async fn create_guardrail(
    can: Can<marks::Flows, marks::Write>,
    State(guardrails): State<Arc<Guardrails>>,
    body: Idempotent<NewGuardrail>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &Guardrail| stored(made) });
    Ok(match guardrails.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
