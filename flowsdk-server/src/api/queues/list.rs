//! `GET /queues`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::queue::Queue;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Queues;

/// List queues
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/queues", tag = "queues",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of queues", body = PageView<Queue>))
)]
pub(super) async fn list_queues(
    can: Can<marks::Queues, marks::Read>,
    State(queues): State<Arc<Queues>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<Queue>>, ApiError> {
    let router = can.admit(router)?;
    let page = queues.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
