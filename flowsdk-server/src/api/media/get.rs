//! `GET /media/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::media::{MediaId, MediaView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::MediaFiles;

/// Show a file
///
/// Its `status` says whether its content is here; then `link` leads to it.
#[utoipa::path(
    get, path = "/media/{id}", tag = "media",
    params(("id" = MediaId, Path, description = "The file")),
    responses((status = 200, description = "The file", body = MediaView))
)]
pub(super) async fn get_media(
    can: Can<marks::Chats, marks::Read>,
    State(files): State<Arc<MediaFiles>>,
    PathId(id): PathId<MediaId>,
) -> Result<Reply<MediaView>, ApiError> {
    Ok(Reply(files.get(can.reach(), &id).await?.into()))
}
