//! `POST /api-clients`.

use flowsdk_core::time::IsoTime;
use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::NewApiClient;
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::RouterId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ApiClientWithToken, COLLECTION};
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::reply::Created;
use crate::api::state::ApiClients;

/// An API client to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateApiClient {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    name: String,
    /// What it may do.
    #[serde(default)]
    #[schema(value_type = Vec<Permission>, required = false, max_items = 100)]
    permissions: Permissions,
    /// The routers it is confined to; empty means no restriction.
    #[serde(default)]
    #[schema(required = false, max_items = 1000)]
    router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    #[serde(default = "active")]
    #[schema(required = false, default = true)]
    active: bool,
    /// From this moment on it is not let in.
    expires_at: Option<IsoTime>,
}

fn active() -> bool {
    true
}

impl From<CreateApiClient> for NewApiClient {
    fn from(body: CreateApiClient) -> Self {
        Self {
            name: body.name,
            permissions: body.permissions,
            router_ids: body.router_ids,
            active: body.active,
            expires_at: body.expires_at.map(|at| at.0),
        }
    }
}

/// Create an API client
///
/// The answer shows its token, once.
#[utoipa::path(
    post, path = "/api-clients", tag = "api-clients",
    request_body = CreateApiClient,
    responses((status = 201, description = "The API client with its token", body = ApiClientWithToken))
)]
pub(super) async fn create_api_client(
    AdminOnly(caller): AdminOnly,
    State(clients): State<Arc<ApiClients>>,
    Body(body): Body<CreateApiClient>,
) -> Result<Created<ApiClientWithToken>, ApiError> {
    let body = ApiClientWithToken::from(clients.create(&caller.actor(), body.into()).await?);
    Ok(Created { collection: COLLECTION, id: body.client.id.to_string(), body })
}
