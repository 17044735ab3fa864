//! `PATCH /users/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::user::{UserChange, UserView};
use flowsdk_core::id::UserId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Users;

/// Change a user
#[utoipa::path(
    patch, path = "/users/{id}", tag = "users",
    params(("id" = UserId, Path, description = "The user")),
    request_body = UserChange,
    responses(
        (status = 200, description = "The user", body = UserView),
        (status = 409, description = "`email_taken` or `last_administrator`"),
        (status = 422, description = "`group_unknown`"),
    )
)]
pub(super) async fn patch_user(
    AdminOnly(caller): AdminOnly,
    State(users): State<Arc<Users>>,
    PathId(id): PathId<UserId>,
    Body(change): Body<UserChange>,
) -> Result<Reply<UserView>, ApiError> {
    let user = users.change(&caller.actor(), &id, change).await?;
    Ok(Reply(user.into()))
}
