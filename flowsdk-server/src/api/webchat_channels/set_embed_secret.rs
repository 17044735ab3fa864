//! `POST /webchat/channels/{id}/embed-secret`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelId;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::WebchatChannels;

/// A new embed secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EmbedSecret)]
pub(super) struct EmbedSecretView {
    channel_id: ChannelId,
    /// Shown this once.
    embed_secret: String,
}

/// Close a channel of the web chat
///
/// Makes a secret, or another one: from now on only tokens signed with it get in.
#[utoipa::path(
    post, path = "/webchat/channels/{id}/embed-secret", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel")),
    responses((status = 200, description = "The secret", body = EmbedSecretView))
)]
pub(super) async fn set_embed_secret(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
) -> Result<Reply<EmbedSecretView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    let secret = channels.set_embed_secret(&author, reach, &id).await?;
    Ok(Reply(EmbedSecretView { channel_id: id, embed_secret: secret.expose_secret().to_owned() }))
}
