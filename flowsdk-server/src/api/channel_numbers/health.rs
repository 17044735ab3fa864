//! `GET /channel-numbers/{id}/health`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::ChannelNumberHealth;
use flowsdk_core::id::ChannelNumberId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// Show whether a number sends
///
/// A number is paused when the provider refuses its account, such as its token. What is to be sent from it waits. The pause
/// ends with another token, or when a check, once a minute, succeeds.
#[utoipa::path(
    get, path = "/channel-numbers/{id}/health", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses((status = 200, description = "Whether it sends, and what waits", body = ChannelNumberHealth))
)]
pub(super) async fn get_channel_number_health(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<ChannelNumberHealth>, ApiError> {
    Ok(Reply(numbers.health(can.reach(), &id).await?))
}
