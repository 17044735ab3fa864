//! `PATCH /channel-numbers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::{ChannelNumberChange, ChannelNumberView};
use flowsdk_core::id::ChannelNumberId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// Change a number of the phone channel
///
/// Its router and its id at the provider stay: sessions are named after that id.
#[utoipa::path(
    patch, path = "/channel-numbers/{id}", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    request_body = ChannelNumberChange,
    responses((status = 200, description = "The number", body = ChannelNumberView))
)]
pub(super) async fn patch_channel_number(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
    Body(change): Body<ChannelNumberChange>,
) -> Result<Reply<ChannelNumberView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(numbers.change(&author, reach, &id, change).await?.into()))
}
