//! `DELETE /flows/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::Flows;

/// Delete a flow
///
/// With its draft, versions and variables.
#[utoipa::path(
    delete, path = "/flows/{id}", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` names the objects that depend on it"),
    )
)]
pub(super) async fn delete_flow(
    can: Can<marks::Flows, marks::Write>,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    flows.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
