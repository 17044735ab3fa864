//! `DELETE /llm-credentials/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::LlmCredentialId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::LlmCredentials;

/// Delete a credential of a model provider
#[utoipa::path(
    delete, path = "/llm-credentials/{id}", tag = "llm-credentials",
    params(("id" = LlmCredentialId, Path, description = "The credential"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` names the routers and AI agents that name it"),
    )
)]
pub(super) async fn delete_llm_credential(
    can: Can<marks::Settings, marks::Write>,
    State(credentials): State<Arc<LlmCredentials>>,
    PathId(id): PathId<LlmCredentialId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    credentials.delete(&author, &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
