//! `PATCH /settings/observability`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::observability::{ObservabilityChange, ObservabilityView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Reply;
use crate::api::state::Observability;

/// Change the settings of observability
///
/// They are kept, and used by nothing yet.
#[utoipa::path(
    patch, path = "/settings/observability", tag = "settings",
    request_body = ObservabilityChange,
    responses((status = 200, description = "The settings", body = ObservabilityView))
)]
pub(super) async fn patch_observability(
    can: Can<marks::Settings, marks::Write>,
    State(observability): State<Arc<Observability>>,
    Body(change): Body<ObservabilityChange>,
) -> Result<Reply<ObservabilityView>, ApiError> {
    Ok(Reply(observability.change(&can.caller.author(), change).await?.into()))
}
