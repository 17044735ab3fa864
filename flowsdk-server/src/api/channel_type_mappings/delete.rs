//! `DELETE /channel-type-mappings/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::type_mapping::ChannelTypeMappingId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::ChannelTypeMappings;

/// Delete a channel type mapping
#[utoipa::path(
    delete, path = "/channel-type-mappings/{id}", tag = "channel-type-mappings",
    params(("id" = ChannelTypeMappingId, Path, description = "The mapping")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_channel_type_mapping(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(mappings): State<Arc<ChannelTypeMappings>>,
    PathId(id): PathId<ChannelTypeMappingId>,
) -> Result<StatusCode, ApiError> {
    mappings.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
