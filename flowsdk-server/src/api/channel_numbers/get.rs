//! `GET /channel-numbers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::ChannelNumberView;
use flowsdk_core::id::ChannelNumberId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// Show a number of the phone channel
#[utoipa::path(
    get, path = "/channel-numbers/{id}", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses((status = 200, description = "The number", body = ChannelNumberView))
)]
pub(super) async fn get_channel_number(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<ChannelNumberView>, ApiError> {
    Ok(Reply(numbers.get(can.reach(), &id).await?.into()))
}
