//! `PATCH /integrations/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::IntegrationId;
use flowsdk_core::integration::{IntegrationChange, IntegrationView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Integrations;

/// Change an integration
#[utoipa::path(
    patch, path = "/integrations/{id}", tag = "integrations",
    params(("id" = IntegrationId, Path, description = "The integration")),
    request_body = IntegrationChange,
    responses((status = 200, description = "The integration", body = IntegrationView))
)]
pub(super) async fn patch_integration(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    PathId(id): PathId<IntegrationId>,
    Body(change): Body<IntegrationChange>,
) -> Result<Reply<IntegrationView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(integrations.change(&author, reach, &id, change).await?.into()))
}
