//! `PATCH /groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::group::{GroupChange, GroupView};
use flowsdk_core::id::GroupId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Groups;

/// Change a group
///
/// Its users' next requests see the change.
#[utoipa::path(
    patch, path = "/groups/{id}", tag = "groups",
    params(("id" = GroupId, Path, description = "The group")),
    request_body = GroupChange,
    responses((status = 200, description = "The group", body = GroupView))
)]
pub(super) async fn patch_group(
    AdminOnly(caller): AdminOnly,
    State(groups): State<Arc<Groups>>,
    PathId(id): PathId<GroupId>,
    Body(change): Body<GroupChange>,
) -> Result<Reply<GroupView>, ApiError> {
    Ok(Reply(groups.change(&caller.actor(), &id, change).await?.into()))
}
