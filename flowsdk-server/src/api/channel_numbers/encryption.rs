//! `GET /channel-numbers/{id}/encryption`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::ChannelNumberId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ChannelNumbers;

/// Whether a number has keys.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Encryption)]
pub(super) struct EncryptionView {
    has_private_key: bool,
}

/// Show whether a number's interactive forms have keys
#[utoipa::path(
    get, path = "/channel-numbers/{id}/encryption", tag = "channel-numbers",
    params(("id" = ChannelNumberId, Path, description = "The number")),
    responses((status = 200, description = "Whether there are keys", body = EncryptionView))
)]
pub(super) async fn get_encryption(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(numbers): State<Arc<ChannelNumbers>>,
    PathId(id): PathId<ChannelNumberId>,
) -> Result<Reply<EncryptionView>, ApiError> {
    let number = numbers.get(can.reach(), &id).await?;
    Ok(Reply(EncryptionView { has_private_key: number.keys.is_some() }))
}
