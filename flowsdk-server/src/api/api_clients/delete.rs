//! `DELETE /api-clients/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ApiClientId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::state::ApiClients;

/// Delete an API client
///
/// Its token counts no more.
#[utoipa::path(
    delete, path = "/api-clients/{id}", tag = "api-clients",
    params(("id" = ApiClientId, Path, description = "The API client")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_api_client(
    AdminOnly(caller): AdminOnly,
    State(api_clients): State<Arc<ApiClients>>,
    PathId(id): PathId<ApiClientId>,
) -> Result<StatusCode, ApiError> {
    api_clients.delete(&caller.actor(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
