//! `GET /helpdesk/stuck-handoffs`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::intake::StuckHandoffView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::StuckHandoffs;

/// List stuck handoffs
///
/// Conversations that a flow has handed over, and that no queue takes: their router has no active one. They are tried
/// again, in growing pauses of up to five minutes.
#[utoipa::path(
    get, path = "/helpdesk/stuck-handoffs", tag = "helpdesk",
    params(PageParams, RouterParams),
    responses((status = 200, description = "A page of handoffs", body = PageView<StuckHandoffView>))
)]
pub(super) async fn list_stuck_handoffs(
    can: Can<marks::Helpdesk, marks::Read>,
    State(stuck): State<Arc<StuckHandoffs>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<StuckHandoffView>>, ApiError> {
    let router = can.admit(router)?;
    let page = stuck.list(can.reach(), &router, &page).await?;
    Ok(Reply(PageView::of(page, StuckHandoffView::from)))
}
