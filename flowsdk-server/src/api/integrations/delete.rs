//! `DELETE /integrations/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::IntegrationId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Integrations;

/// Delete an integration
#[utoipa::path(
    delete, path = "/integrations/{id}", tag = "integrations",
    params(("id" = IntegrationId, Path, description = "The integration")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_integration(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    PathId(id): PathId<IntegrationId>,
) -> Result<StatusCode, ApiError> {
    integrations.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
