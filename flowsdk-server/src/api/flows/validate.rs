//! `POST /flows/{id}/validate`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;

use super::problems::ValidationView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::request;
use crate::api::state::Flows;

/// Validate the draft of a flow
#[utoipa::path(
    post, path = "/flows/{id}/validate", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow")),
    responses((status = 200, description = "Everything that is wrong with it", body = ValidationView))
)]
pub(super) async fn validate_flow(
    can: Can<marks::Flows, marks::Read>,
    _turn: HeavyTurn,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
) -> Result<Reply<ValidationView>, ApiError> {
    let (revision, problems) = flows.validate(can.reach(), &id).await?;
    let (_, language) = request::facts();
    Ok(Reply(ValidationView::new(revision, problems, language)))
}
