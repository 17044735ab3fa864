//! `POST /api-clients/{id}/rotate`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ApiClientId;

use super::ApiClientWithToken;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ApiClients;

/// Give an API client a new token
///
/// The old one counts no more. The answer shows the new one, once.
#[utoipa::path(
    post, path = "/api-clients/{id}/rotate", tag = "api-clients",
    params(("id" = ApiClientId, Path, description = "The API client")),
    responses((status = 200, description = "The API client with its token", body = ApiClientWithToken))
)]
pub(super) async fn rotate_api_client(
    AdminOnly(caller): AdminOnly,
    State(clients): State<Arc<ApiClients>>,
    PathId(id): PathId<ApiClientId>,
) -> Result<Reply<ApiClientWithToken>, ApiError> {
    Ok(Reply(clients.rotate(&caller.actor(), &id).await?.into()))
}
