//! `PATCH /webchat/channels/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::webchat::channels::WebchatChannelChange;
use flowsdk_core::id::ChannelId;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Origin, WebchatChannelView};
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// What is to change of a channel; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchWebchatChannel {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Loja")]
    name: Option<String>,
    /// Colours, avatar, texts; passed to the page as it is.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Object>)]
    appearance: Option<Option<Value>>,
    /// Origins that may open a socket; null means any.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Vec<Origin>>, max_items = 100)]
    allowed_origins: Option<Option<Vec<String>>>,
}

/// Change a channel of the web chat
///
/// Visitors see it when they connect next.
#[utoipa::path(
    patch, path = "/webchat/channels/{id}", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    request_body = PatchWebchatChannel,
    responses((status = 200, description = "The channel", body = WebchatChannelView))
)]
pub(super) async fn patch_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
    Body(body): Body<PatchWebchatChannel>,
) -> Result<Reply<WebchatChannelView>, ApiError> {
    let PatchWebchatChannel { name, appearance, allowed_origins } = body;
    let change = WebchatChannelChange { name, appearance, allowed_origins };
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(channels.change(&author, reach, &id, change).await?.into()))
}
