//! `PATCH /webchat/channels/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::webchat::channels::WebchatChannelChange;
use flowsdk_core::id::ChannelId;

use super::shown::ShownView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// Change a channel of the web chat
///
/// Visitors see it when they connect next.
#[utoipa::path(
    patch, path = "/webchat/channels/{id}", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    request_body = WebchatChannelChange,
    responses(
        (status = 200, description = "The channel", body = ShownView),
        (status = 422, description = "`flow_unknown`: the flow is none of the router's; `flow_is_tool`"),
    )
)]
pub(super) async fn patch_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
    Body(change): Body<WebchatChannelChange>,
) -> Result<Reply<ShownView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply((&channels.change(&author, reach, &id, change).await?).into()))
}
