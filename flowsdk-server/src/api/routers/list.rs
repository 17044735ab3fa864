//! `GET /routers`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::RouterView;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply;
use crate::api::state::Routers;

/// List routers
///
/// A caller who is confined to routers sees these only.
#[utoipa::path(
    get, path = "/routers", tag = "routers",
    params(PageParams),
    responses((status = 200, description = "A page of routers", body = PageView<RouterView<'static>>))
)]
pub(super) async fn list_routers(
    can: Can<marks::Routers, marks::Read>,
    State(routers): State<Arc<Routers>>,
    Query(page): Query<PageRequest>,
) -> Result<Response, ApiError> {
    let page = routers.list(can.reach(), &page).await?;
    let items = page.items.iter().map(RouterView::from).collect();
    let next_cursor = page.next.map(|next| next.to_string());
    Ok(reply::json(StatusCode::OK, &PageView { items, next_cursor }))
}
