//! `GET /flows/{id}/versions/{number}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::flow::Written;
use flowsdk_core::id::FlowId;
use flowsdk_core::schema::PublishedDefinition;
use serde::Serialize;
use utoipa::ToSchema;

use super::VersionView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// A published version with its definition.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FlowVersionDetails)]
pub(super) struct VersionDetailsView {
    #[serde(flatten)]
    version: VersionView,
    #[schema(value_type = PublishedDefinition)]
    definition: Written,
}

/// Show a published version of a flow
#[utoipa::path(
    get, path = "/flows/{id}/versions/{number}", tag = "flows",
    params(
        ("id" = FlowId, Path, description = "The flow"),
        ("number" = i64, Path, description = "The number of the version", minimum = 1),
    ),
    responses((status = 200, description = "The version", body = VersionDetailsView))
)]
pub(super) async fn get_flow_version(
    can: Can<marks::Flows, marks::Read>,
    State(flows): State<Arc<Flows>>,
    PathIds(id, number): PathIds<FlowId, i64>,
) -> Result<Reply<VersionDetailsView>, ApiError> {
    let (version, is_current) = flows.version(can.reach(), &id, number).await?;
    let shown = VersionView::of(&version, is_current);
    Ok(Reply(VersionDetailsView { version: shown, definition: version.definition }))
}
