//! `DELETE /guardrails/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::guardrail::GuardrailId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Guardrails;

/// Delete a guardrail
#[utoipa::path(
    delete, path = "/guardrails/{id}", tag = "guardrails",
    params(("id" = GuardrailId, Path, description = "The guardrail")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_guardrail(
    can: Can<marks::Flows, marks::Write>,
    State(guardrails): State<Arc<Guardrails>>,
    PathId(id): PathId<GuardrailId>,
) -> Result<StatusCode, ApiError> {
    guardrails.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
