//! `PATCH /guardrails/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::guardrail::{Guardrail, GuardrailChange, GuardrailId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Guardrails;

/// Change a guardrail
#[utoipa::path(
    patch, path = "/guardrails/{id}", tag = "guardrails",
    params(("id" = GuardrailId, Path, description = "The guardrail")),
    request_body = GuardrailChange,
    responses(
        (status = 200, description = "The guardrail", body = Guardrail),
        (status = 422, description = "`guardrail_rules_invalid`"),
    )
)]
pub(super) async fn patch_guardrail(
    can: Can<marks::Flows, marks::Write>,
    State(guardrails): State<Arc<Guardrails>>,
    PathId(id): PathId<GuardrailId>,
    Body(change): Body<GuardrailChange>,
) -> Result<Reply<Guardrail>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(guardrails.change(&author, reach, &id, change).await?))
}
