//! `DELETE /groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::GroupId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::state::Groups;

/// Delete a group
///
/// Its users have none afterwards.
#[utoipa::path(
    delete, path = "/groups/{id}", tag = "groups",
    params(("id" = GroupId, Path, description = "The group")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_group(
    AdminOnly(caller): AdminOnly,
    State(groups): State<Arc<Groups>>,
    PathId(id): PathId<GroupId>,
) -> Result<StatusCode, ApiError> {
    groups.delete(&caller.actor(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
