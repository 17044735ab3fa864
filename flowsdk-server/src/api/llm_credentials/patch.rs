//! `PATCH /llm-credentials/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::credential::{LlmCredentialChange, LlmCredentialView};
use flowsdk_core::id::LlmCredentialId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::LlmCredentials;

/// Change a credential of a model provider
#[utoipa::path(
    patch, path = "/llm-credentials/{id}", tag = "llm-credentials",
    params(("id" = LlmCredentialId, Path, description = "The credential")),
    request_body = LlmCredentialChange,
    responses((status = 200, description = "The credential", body = LlmCredentialView))
)]
pub(super) async fn patch_llm_credential(
    can: Can<marks::Settings, marks::Write>,
    State(credentials): State<Arc<LlmCredentials>>,
    PathId(id): PathId<LlmCredentialId>,
    Body(change): Body<LlmCredentialChange>,
) -> Result<Reply<LlmCredentialView>, ApiError> {
    Ok(Reply(credentials.change(&can.caller.author(), &id, change).await?.into()))
}
