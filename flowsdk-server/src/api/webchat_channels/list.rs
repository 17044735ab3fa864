//! `GET /webchat/channels`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::webchat::channels::WebchatChannelView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// List channels of the web chat
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/webchat/channels", tag = "webchat",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of channels", body = PageView<WebchatChannelView>))
)]
pub(super) async fn list_webchat_channels(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(channels): State<Arc<WebchatChannels>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<WebchatChannelView>>, ApiError> {
    let router = router.map(|router| can.admit(router)).transpose()?;
    let page = channels.list(can.reach(), router.as_ref(), query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, WebchatChannelView::from)))
}
