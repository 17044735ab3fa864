//! `PATCH /api-clients/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::{ApiClientChange, ApiClientView};
use flowsdk_core::id::ApiClientId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ApiClients;

/// Change an API client
///
/// Its next request sees the change.
#[utoipa::path(
    patch, path = "/api-clients/{id}", tag = "api-clients",
    params(("id" = ApiClientId, Path, description = "The API client")),
    request_body = ApiClientChange,
    responses((status = 200, description = "The API client", body = ApiClientView))
)]
pub(super) async fn patch_api_client(
    AdminOnly(caller): AdminOnly,
    State(clients): State<Arc<ApiClients>>,
    PathId(id): PathId<ApiClientId>,
    Body(change): Body<ApiClientChange>,
) -> Result<Reply<ApiClientView>, ApiError> {
    Ok(Reply(clients.change(&caller.actor(), &id, change).await?.into()))
}
