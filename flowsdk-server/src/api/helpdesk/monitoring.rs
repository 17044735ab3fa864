//! `GET /helpdesk/monitoring`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::monitoring::MonitoringSnapshot;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Monitoring;

/// Show the figures of the helpdesk
///
/// Those of a router, or of all within the caller's reach. They are at most two seconds old. The desk socket sends the same
/// to whoever has joined `monitoring`.
#[utoipa::path(
    get, path = "/helpdesk/monitoring", tag = "helpdesk",
    params(RouterParams),
    responses((status = 200, description = "The figures", body = MonitoringSnapshot))
)]
pub(super) async fn show_monitoring(
    can: Can<marks::Reports, marks::Read>,
    State(monitoring): State<Arc<Monitoring>>,
    Query(OfRouter(router)): Query<OfRouter>,
) -> Result<Reply<MonitoringSnapshot>, ApiError> {
    let router = can.admit(router)?;
    let snapshot = monitoring.snapshot(can.reach(), &router).await?;
    Ok(Reply(MonitoringSnapshot::clone(&snapshot)))
}
