//! `GET /quick-replies`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::quick_reply::QuickReply;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::QuickReplies;

/// List quick replies
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/quick-replies", tag = "quick-replies",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of quick replies", body = PageView<QuickReply>))
)]
pub(super) async fn list_quick_replies(
    can: Can<marks::Helpdesk, marks::Read>,
    State(replies): State<Arc<QuickReplies>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<QuickReply>>, ApiError> {
    let router = can.admit(router)?;
    let page = replies.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
