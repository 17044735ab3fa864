//! `GET /channel-type-mappings/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::type_mapping::{ChannelTypeMapping, ChannelTypeMappingId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelTypeMappings;

/// Show a channel type mapping
#[utoipa::path(
    get, path = "/channel-type-mappings/{id}", tag = "channel-type-mappings",
    params(("id" = ChannelTypeMappingId, Path, description = "The mapping")),
    responses((status = 200, description = "The mapping", body = ChannelTypeMapping))
)]
pub(super) async fn get_channel_type_mapping(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(mappings): State<Arc<ChannelTypeMappings>>,
    PathId(id): PathId<ChannelTypeMappingId>,
) -> Result<Reply<ChannelTypeMapping>, ApiError> {
    Ok(Reply(mappings.get(can.reach(), &id).await?))
}
