//! `GET /api-clients/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::ApiClientView;
use flowsdk_core::id::ApiClientId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ApiClients;

/// Show an API client
#[utoipa::path(
    get, path = "/api-clients/{id}", tag = "api-clients",
    params(("id" = ApiClientId, Path, description = "The API client")),
    responses((status = 200, description = "The API client", body = ApiClientView))
)]
pub(super) async fn get_api_client(
    _can: Can<marks::Settings, marks::Read>,
    State(api_clients): State<Arc<ApiClients>>,
    PathId(id): PathId<ApiClientId>,
) -> Result<Reply<ApiClientView>, ApiError> {
    Ok(Reply(api_clients.get(&id).await?.into()))
}
