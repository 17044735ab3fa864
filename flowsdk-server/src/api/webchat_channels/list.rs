//! `GET /webchat/channels`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::Reach;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use super::WebchatChannelView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::openapi::types::Id;
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// Which channels.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct ChannelParams {
    /// Those of this router.
    #[param(value_type = Option<Id>)]
    router_id: Option<RouterId>,
}

/// The router whose channels are wanted.
#[derive(Debug)]
pub(super) struct OfRouter(Option<RouterId>);

impl FromQuery for OfRouter {
    fn read(query: &mut QueryReader) -> Self {
        let not_an_id = Text::new("Id inválido", "Invalid id");
        Self(query.parsed("routerId", |text| RouterId::parse(text).ok(), not_an_id))
    }
}

/// List channels of the web chat
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/webchat/channels", tag = "webchat",
    params(PageParams, ChannelParams),
    responses((status = 200, description = "A page of channels", body = PageView<WebchatChannelView>))
)]
pub(super) async fn list_webchat_channels(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(channels): State<Arc<WebchatChannels>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<WebchatChannelView>>, ApiError> {
    if let Some(router) = &router {
        can.scope.admit(router)?;
    }
    let page = channels.list(Reach(can.scope.routers()), router.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, WebchatChannelView::from)))
}
