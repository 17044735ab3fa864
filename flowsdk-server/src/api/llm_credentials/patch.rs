//! `PATCH /llm-credentials/{id}`.

use flowsdk_core::schema::SecureAddress;
use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::credential::{LlmCredentialChange, LlmProvider};
use flowsdk_core::id::LlmCredentialId;
use flowsdk_core::integration::BaseUrl;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::LlmCredentialView;
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::LlmCredentials;

/// What is to change of a credential; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchLlmCredential {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Produção")]
    name: Option<String>,
    #[schema(value_type = LlmProvider, required = false)]
    provider: Option<LlmProvider>,
    /// Where the provider answers; null means his own address. Another address without `apiKey` forgets the key.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<SecureAddress>)]
    base_url: Option<Option<BaseUrl>>,
    /// Kept encrypted and never shown.
    #[schema(value_type = String, required = false, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    api_key: Option<SecretString>,
}

/// Change a credential of a model provider
#[utoipa::path(
    patch, path = "/llm-credentials/{id}", tag = "llm-credentials",
    params(("id" = LlmCredentialId, Path, description = "The credential")),
    request_body = PatchLlmCredential,
    responses((status = 200, description = "The credential", body = LlmCredentialView))
)]
pub(super) async fn patch_llm_credential(
    can: Can<marks::Settings, marks::Write>,
    State(credentials): State<Arc<LlmCredentials>>,
    PathId(id): PathId<LlmCredentialId>,
    Body(body): Body<PatchLlmCredential>,
) -> Result<Reply<LlmCredentialView>, ApiError> {
    let PatchLlmCredential { name, provider, base_url, api_key } = body;
    let change = LlmCredentialChange { name, provider, base_url, api_key };
    Ok(Reply(credentials.change(&can.caller.author(), &id, change).await?.into()))
}
