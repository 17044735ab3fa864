//! `GET /groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::group::GroupView;
use flowsdk_core::id::GroupId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Groups;

/// Show a group
#[utoipa::path(
    get, path = "/groups/{id}", tag = "groups",
    params(("id" = GroupId, Path, description = "The group")),
    responses((status = 200, description = "The group", body = GroupView))
)]
pub(super) async fn get_group(
    _can: Can<marks::Users, marks::Read>,
    State(groups): State<Arc<Groups>>,
    PathId(id): PathId<GroupId>,
) -> Result<Reply<GroupView>, ApiError> {
    Ok(Reply(groups.get(&id).await?.into()))
}
