//! `POST /api-clients`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::NewApiClient;

use super::{ApiClientWithToken, COLLECTION};
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::reply::Created;
use crate::api::state::ApiClients;

/// Create an API client
///
/// The answer shows its token, once.
#[utoipa::path(
    post, path = "/api-clients", tag = "api-clients",
    request_body = NewApiClient,
    responses((status = 201, description = "The API client with its token", body = ApiClientWithToken))
)]
pub(super) async fn create_api_client(
    AdminOnly(caller): AdminOnly,
    State(clients): State<Arc<ApiClients>>,
    Body(new): Body<NewApiClient>,
) -> Result<Created<ApiClientWithToken>, ApiError> {
    let body = ApiClientWithToken::from(clients.create(&caller.actor(), new).await?);
    Ok(Created { collection: COLLECTION, id: body.client.id.to_string(), body })
}
