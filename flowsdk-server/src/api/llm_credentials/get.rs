//! `GET /llm-credentials/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::credential::LlmCredentialView;
use flowsdk_core::id::LlmCredentialId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::LlmCredentials;

/// Show a credential of a model provider
#[utoipa::path(
    get, path = "/llm-credentials/{id}", tag = "llm-credentials",
    params(("id" = LlmCredentialId, Path, description = "The credential")),
    responses((status = 200, description = "The credential", body = LlmCredentialView))
)]
pub(super) async fn get_llm_credential(
    _can: Can<marks::Settings, marks::Read>,
    State(credentials): State<Arc<LlmCredentials>>,
    PathId(id): PathId<LlmCredentialId>,
) -> Result<Reply<LlmCredentialView>, ApiError> {
    Ok(Reply(credentials.get(&id).await?.into()))
}
