//! `GET /groups`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::group::GroupView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::Groups;

/// List groups
#[utoipa::path(
    get, path = "/groups", tag = "groups",
    params(PageParams, NameParams),
    responses((status = 200, description = "A page of groups", body = PageView<GroupView>))
)]
pub(super) async fn list_groups(
    _can: Can<marks::Users, marks::Read>,
    State(groups): State<Arc<Groups>>,
    Query((page, Named(query))): Query<(PageRequest, Named)>,
) -> Result<Reply<PageView<GroupView>>, ApiError> {
    let page = groups.list(query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, GroupView::from)))
}
