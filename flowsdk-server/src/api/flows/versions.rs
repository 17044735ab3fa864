//! `GET /flows/{id}/versions`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::FlowId;
use flowsdk_core::page::PageRequest;

use super::VersionView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// List the published versions of a flow
#[utoipa::path(
    get, path = "/flows/{id}/versions", tag = "flows",
    params(("id" = FlowId, Path, description = "The flow"), PageParams),
    responses((status = 200, description = "A page of versions", body = PageView<VersionView>))
)]
pub(super) async fn list_flow_versions(
    can: Can<marks::Flows, marks::Read>,
    State(flows): State<Arc<Flows>>,
    PathId(id): PathId<FlowId>,
    Query(page): Query<PageRequest>,
) -> Result<Reply<PageView<VersionView>>, ApiError> {
    let (page, current) = flows.versions(can.reach(), &id, &page).await?;
    Ok(Reply(PageView::of(page, |head| VersionView::listed(head, current.as_ref()))))
}
