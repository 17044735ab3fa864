//! `DELETE /tags/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::tag::TagId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Tags;

/// Delete a tag
#[utoipa::path(
    delete, path = "/tags/{id}", tag = "tags",
    params(("id" = TagId, Path, description = "The tag")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_tag(
    can: Can<marks::Helpdesk, marks::Write>,
    State(tags): State<Arc<Tags>>,
    PathId(id): PathId<TagId>,
) -> Result<StatusCode, ApiError> {
    tags.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
