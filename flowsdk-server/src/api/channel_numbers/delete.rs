//! `DELETE /channel-numbers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelNumberId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{Force, ForceParams, Query};
use crate::api::state::ChannelNumbers;

/// Delete a number of the phone channel
///
/// With its keys. Its chats stay, and so do the templates of its business account.
#[utoipa::path(
    delete, path = "/channel-numbers/{id}", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number"), ForceParams),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`in_use`: `details` names the objects that depend on it"),
    )
)]
pub(super) async fn delete_channel_number(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
    Query(force): Query<Force>,
) -> Result<StatusCode, ApiError> {
    let (author, force) = (can.caller.author(), force.of(&can.caller)?);
    numbers.delete(&author, can.reach(), &id, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
