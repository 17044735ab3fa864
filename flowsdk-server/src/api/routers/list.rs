//! `GET /routers`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::RouterView;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Routers;

/// List routers
///
/// A caller who is confined to routers sees these only.
#[utoipa::path(
    get, path = "/routers", tag = "routers",
    params(PageParams, NameParams),
    responses((status = 200, description = "A page of routers", body = PageView<RouterView>))
)]
pub(super) async fn list_routers(
    can: Can<marks::Routers, marks::Read>,
    State(routers): State<Arc<Routers>>,
    Query((page, Named(query))): Query<(PageRequest, Named)>,
) -> Result<Reply<PageView<RouterView>>, ApiError> {
    let page = routers.list(can.reach(), query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, RouterView::from)))
}
