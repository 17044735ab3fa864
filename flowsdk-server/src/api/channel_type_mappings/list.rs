//! `GET /channel-type-mappings`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::type_mapping::ChannelTypeMapping;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::ChannelTypeMappings;

/// List channel type mappings
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/channel-type-mappings", tag = "channel-type-mappings",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of mappings", body = PageView<ChannelTypeMapping>))
)]
pub(super) async fn list_channel_type_mappings(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(mappings): State<Arc<ChannelTypeMappings>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<ChannelTypeMapping>>, ApiError> {
    let router = can.admit(router)?;
    let page = mappings.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |mapping| mapping)))
}
