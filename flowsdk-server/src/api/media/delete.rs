//! `DELETE /media/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::media::MediaId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::MediaFiles;

/// Delete the content of a file
///
/// The file itself stays, with the status `expired`: messages name it.
#[utoipa::path(
    delete, path = "/media/{id}", tag = "media",
    params(("id" = MediaId, Path, description = "The file")),
    responses((status = 204, description = "Its content is deleted"))
)]
pub(super) async fn delete_media(
    can: Can<marks::Chats, marks::Admin>,
    State(files): State<Arc<MediaFiles>>,
    PathId(id): PathId<MediaId>,
) -> Result<StatusCode, ApiError> {
    files.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
