//! `GET /integrations/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::IntegrationId;
use flowsdk_core::integration::IntegrationView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Integrations;

/// Show an integration
#[utoipa::path(
    get, path = "/integrations/{id}", tag = "integrations",
    params(("id" = IntegrationId, Path, description = "The integration")),
    responses((status = 200, description = "The integration", body = IntegrationView))
)]
pub(super) async fn get_integration(
    can: Can<marks::Routers, marks::Read>,
    State(integrations): State<Arc<Integrations>>,
    PathId(id): PathId<IntegrationId>,
) -> Result<Reply<IntegrationView>, ApiError> {
    Ok(Reply(integrations.get(can.reach(), &id).await?.into()))
}
