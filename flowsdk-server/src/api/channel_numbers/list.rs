//! `GET /channel-numbers`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::ChannelNumberView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// List numbers of the phone channel
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/channel-numbers", tag = "channel-numbers",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of numbers", body = PageView<ChannelNumberView>))
)]
pub(super) async fn list_channel_numbers(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(numbers): State<Arc<ChannelNumbers>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<ChannelNumberView>>, ApiError> {
    let router = router.map(|router| can.admit(router)).transpose()?;
    let page = numbers.list(can.reach(), router.as_ref(), query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, ChannelNumberView::from)))
}
