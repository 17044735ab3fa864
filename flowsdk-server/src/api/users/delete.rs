//! `DELETE /users/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::UserId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::state::Users;

/// Delete a user
///
/// Deletes the user's devices too; the user's tokens become invalid.
#[utoipa::path(
    delete, path = "/users/{id}", tag = "users",
    params(("id" = UserId, Path, description = "The user")),
    responses(
        (status = 204, description = "Deleted"),
        (status = 409, description = "`last_administrator`"),
    )
)]
pub(super) async fn delete_user(
    AdminOnly(caller): AdminOnly,
    State(users): State<Arc<Users>>,
    PathId(id): PathId<UserId>,
) -> Result<StatusCode, ApiError> {
    users.delete(&caller.actor(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
