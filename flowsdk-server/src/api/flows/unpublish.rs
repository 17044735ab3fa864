//! `POST /flows/{id}/unpublish`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Flows;

/// Unpublish a flow
///
/// No session begins on it any more; running ones stay. Its versions stay too.
#[utoipa::path(
    post, path = "/flows/{id}/unpublish", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow")),
    responses(
        (status = 204, description = "Unpublished"),
        (status = 409, description = "`flow_not_published`"),
    )
)]
pub(super) async fn unpublish_flow(
    can: Can<marks::Flows, marks::Write>,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
) -> Result<StatusCode, ApiError> {
    flows.unpublish(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
