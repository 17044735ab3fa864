//! `GET /users/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::user::UserView;
use flowsdk_core::id::UserId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Users;

/// Show a user
#[utoipa::path(
    get, path = "/users/{id}", tag = "users",
    params(("id" = UserId, Path, description = "The user")),
    responses((status = 200, description = "The user", body = UserView))
)]
pub(super) async fn get_user(
    _can: Can<marks::Users, marks::Read>,
    State(users): State<Arc<Users>>,
    PathId(id): PathId<UserId>,
) -> Result<Reply<UserView>, ApiError> {
    Ok(Reply(users.get(&id).await?.into()))
}
