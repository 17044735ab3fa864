//! `GET /import-drafts`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::permission::Action;
use flowsdk_core::page::PageRequest;

use super::view::ListedView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::ImportDrafts;
use crate::api::transfer::require_flows;

/// List import drafts
///
/// Without their plans. A caller who is confined to routers sees theirs only. Requires `flows:read` too.
#[utoipa::path(
    get, path = "/import-drafts", tag = "import-drafts",
    params(PageParams, RouterParams),
    responses((status = 200, description = "A page of drafts", body = PageView<ListedView>))
)]
pub(super) async fn list_import_drafts(
    can: Can<marks::Routers, marks::Read>,
    State(drafts): State<Arc<ImportDrafts>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<ListedView>>, ApiError> {
    require_flows(&can.caller, Action::Read)?;
    let router = router.map(|router| can.admit(router)).transpose()?;
    let page = drafts.list(can.reach(), router.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, ListedView::from)))
}
