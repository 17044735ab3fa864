//! `PATCH /api-clients/{id}`.

use flowsdk_core::time::IsoTime;
use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::api_client::ApiClientChange;
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::{ApiClientId, RouterId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::ApiClientView;
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ApiClients;

/// What is to change of an API client; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchApiClient {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "CRM")]
    name: Option<String>,
    /// What it may do; replaces the whole list.
    #[schema(value_type = Vec<Permission>, required = false, max_items = 100)]
    permissions: Option<Permissions>,
    /// The routers it is confined to; replaces the whole list, and an empty one lifts the restriction.
    #[schema(value_type = Vec<RouterId>, required = false, max_items = 1000)]
    router_ids: Option<Vec<RouterId>>,
    /// An inactive one is not let in.
    #[schema(value_type = bool, required = false)]
    active: Option<bool>,
    /// From this moment on it is not let in; null means never.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<IsoTime>)]
    expires_at: Option<Option<IsoTime>>,
}

impl From<PatchApiClient> for ApiClientChange {
    fn from(body: PatchApiClient) -> Self {
        Self {
            name: body.name,
            permissions: body.permissions,
            router_ids: body.router_ids,
            active: body.active,
            expires_at: body.expires_at.map(|at| at.map(|at| at.0)),
        }
    }
}

/// Change an API client
///
/// Its next request sees the change.
#[utoipa::path(
    patch, path = "/api-clients/{id}", tag = "api-clients",
    params(("id" = ApiClientId, Path, description = "The API client")),
    request_body = PatchApiClient,
    responses((status = 200, description = "The API client", body = ApiClientView))
)]
pub(super) async fn patch_api_client(
    AdminOnly(caller): AdminOnly,
    State(clients): State<Arc<ApiClients>>,
    PathId(id): PathId<ApiClientId>,
    Body(body): Body<PatchApiClient>,
) -> Result<Reply<ApiClientView>, ApiError> {
    Ok(Reply(clients.change(&caller.actor(), &id, body.into()).await?.into()))
}
