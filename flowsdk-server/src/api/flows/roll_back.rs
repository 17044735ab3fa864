//! `POST /flows/{id}/versions/{number}/rollback`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;

use super::VersionView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// Roll a flow back to a version
///
/// Publishes the definition of that version as a new version. The draft stays.
#[utoipa::path(
    post, path = "/flows/{id}/versions/{number}/rollback", tag = "flows",
    params(
        ("id" = FlowId, Path, description = "The flow"),
        ("number" = i64, Path, description = "The number of the version", minimum = 1),
    ),
    responses(
        (status = 200, description = "The new version", body = VersionView),
        (status = 422, description = "`flow_invalid`: this server cannot run it any more"),
    )
)]
pub(super) async fn roll_back_flow(
    can: Can<marks::Flows, marks::Write>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathIds(id, number): PathIds<FlowId, i64>,
) -> Result<Reply<VersionView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let version = flows.roll_back(&author, reach, &id, number).await?;
    Ok(Reply(VersionView::of(&version, true)))
}
