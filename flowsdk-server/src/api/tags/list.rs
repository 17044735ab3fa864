//! `GET /tags`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::tag::Tag;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Tags;

/// List tags
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/tags", tag = "tags",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of tags", body = PageView<Tag>))
)]
pub(super) async fn list_tags(
    can: Can<marks::Helpdesk, marks::Read>,
    State(tags): State<Arc<Tags>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<Tag>>, ApiError> {
    let router = can.admit(router)?;
    let page = tags.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
