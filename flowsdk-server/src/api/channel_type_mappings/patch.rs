//! `PATCH /channel-type-mappings/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::type_mapping::{ChannelTypeMapping, ChannelTypeMappingChange, ChannelTypeMappingId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelTypeMappings;

/// Change a channel type mapping
#[utoipa::path(
    patch, path = "/channel-type-mappings/{id}", tag = "channel-type-mappings",
    params(("id" = ChannelTypeMappingId, Path, description = "The mapping")),
    request_body = ChannelTypeMappingChange,
    responses((status = 200, description = "The mapping", body = ChannelTypeMapping))
)]
pub(super) async fn patch_channel_type_mapping(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(mappings): State<Arc<ChannelTypeMappings>>,
    PathId(id): PathId<ChannelTypeMappingId>,
    Body(change): Body<ChannelTypeMappingChange>,
) -> Result<Reply<ChannelTypeMapping>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(mappings.change(&author, reach, &id, change).await?))
}
