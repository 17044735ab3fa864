//! `GET /tags/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_helpdesk::tag::{Tag, TagId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Tags;

/// Show a tag
#[utoipa::path(
    get, path = "/tags/{id}", tag = "tags",
    params(("id" = TagId, Path, description = "The tag")),
    responses((status = 200, description = "The tag", body = Tag))
)]
pub(super) async fn get_tag(
    can: Can<marks::Helpdesk, marks::Read>,
    State(tags): State<Arc<Tags>>,
    PathId(id): PathId<TagId>,
) -> Result<Reply<Tag>, ApiError> {
    Ok(Reply(tags.get(can.reach(), &id).await?))
}
