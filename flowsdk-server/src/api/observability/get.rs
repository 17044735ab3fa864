//! `GET /settings/observability`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::observability::ObservabilityView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Observability;

/// Show the settings of observability
#[utoipa::path(
    get, path = "/settings/observability", tag = "settings",
    responses((status = 200, description = "The settings", body = ObservabilityView))
)]
pub(super) async fn get_observability(
    _can: Can<marks::Settings, marks::Read>,
    State(observability): State<Arc<Observability>>,
) -> Result<Reply<ObservabilityView>, ApiError> {
    Ok(Reply(observability.get().await?.into()))
}
