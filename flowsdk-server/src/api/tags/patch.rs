//! `PATCH /tags/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::tag::{Tag, TagChange, TagId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Tags;

/// Change a tag
#[utoipa::path(
    patch, path = "/tags/{id}", tag = "tags",
    params(("id" = TagId, Path, description = "The tag")),
    request_body = TagChange,
    responses(
        (status = 200, description = "The tag", body = Tag),
        (status = 409, description = "`name_taken`"),
    )
)]
pub(super) async fn patch_tag(
    can: Can<marks::Helpdesk, marks::Write>,
    State(tags): State<Arc<Tags>>,
    PathId(id): PathId<TagId>,
    Body(change): Body<TagChange>,
) -> Result<Reply<Tag>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(tags.change(&author, reach, &id, change).await?))
}
