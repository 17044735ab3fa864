//! `DELETE /webchat/channels/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::WebchatChannels;

/// Delete a channel of the web chat
///
/// Its visitors are not recognised any more; their chats stay.
#[utoipa::path(
    delete, path = "/webchat/channels/{id}", tag = "webchat",
    params(("id" = ChannelId, Path, description = "The channel"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 400, description = "`test_channel`: the test channel that a router has of its own cannot be deleted"),
        (status = 409, description = "`in_use`: `details` names the objects that depend on it"),
    )
)]
pub(super) async fn delete_webchat_channel(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(channels): State<Arc<WebchatChannels>>,
    PathId(id): PathId<ChannelId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    channels.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
