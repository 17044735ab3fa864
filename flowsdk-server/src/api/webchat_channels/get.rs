//! `GET /webchat/channels/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelId;

use super::shown::ShownView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// Show a channel of the web chat
#[utoipa::path(
    get, path = "/webchat/channels/{id}", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    responses((status = 200, description = "The channel", body = ShownView))
)]
pub(super) async fn get_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
) -> Result<Reply<ShownView>, ApiError> {
    Ok(Reply((&channels.get(can.reach(), &id).await?).into()))
}
