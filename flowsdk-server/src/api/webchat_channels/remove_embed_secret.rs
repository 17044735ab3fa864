//! `DELETE /webchat/channels/{id}/embed-secret`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::WebchatChannels;

/// Open a channel of the web chat to anybody
#[utoipa::path(
    delete, path = "/webchat/channels/{id}/embed-secret", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    responses((status = 204, description = "It has no embed secret any more"))
)]
pub(super) async fn remove_embed_secret(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
) -> Result<StatusCode, ApiError> {
    channels.remove_embed_secret(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
