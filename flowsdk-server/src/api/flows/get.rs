//! `GET /flows/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;

use super::FlowDetailsView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// Show a flow with its draft
#[utoipa::path(
    get, path = "/flows/{id}", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow")),
    responses((status = 200, description = "The flow", body = FlowDetailsView))
)]
pub(super) async fn get_flow(
    can: Can<marks::Flows, marks::Read>,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
) -> Result<Reply<FlowDetailsView>, ApiError> {
    Ok(Reply(flows.get(can.reach(), &id).await?.into()))
}
