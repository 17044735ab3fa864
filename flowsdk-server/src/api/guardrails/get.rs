//! `GET /guardrails/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::guardrail::{Guardrail, GuardrailId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Guardrails;

/// Show a guardrail
#[utoipa::path(
    get, path = "/guardrails/{id}", tag = "guardrails",
    params(("id" = GuardrailId, Path, description = "The guardrail")),
    responses((status = 200, description = "The guardrail", body = Guardrail))
)]
pub(super) async fn get_guardrail(
    can: Can<marks::Flows, marks::Read>,
    State(guardrails): State<Arc<Guardrails>>,
    PathId(id): PathId<GuardrailId>,
) -> Result<Reply<Guardrail>, ApiError> {
    Ok(Reply(guardrails.get(can.reach(), &id).await?))
}
