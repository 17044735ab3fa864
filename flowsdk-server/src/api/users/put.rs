//! `PUT /users/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::user::{Email, Phone, UserChange, UserRole, UserView};
use flowsdk_core::id::{GroupId, UserId};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Users;

/// Everything of a user. Only the password, which cannot be read, may be left out and then stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PutUser {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Smith")]
    name: String,
    email: Email,
    phone: Phone,
    /// At most 72 bytes; ends every session of the user.
    #[schema(value_type = String, required = false, format = Password, min_length = 8, max_length = 72)]
    password: Option<SecretString>,
    user_role: UserRole,
    #[schema(required = true)]
    group_id: Option<GroupId>,
}

impl From<PutUser> for UserChange {
    fn from(body: PutUser) -> Self {
        Self {
            name: Some(body.name),
            email: Some(body.email),
            phone: Some(body.phone),
            password: body.password,
            role: Some(body.user_role),
            group_id: Some(body.group_id),
        }
    }
}

/// Replace a user
#[utoipa::path(
    put, path = "/users/{id}", tag = "users",
    params(("id" = UserId, Path, description = "The user")),
    request_body = PutUser,
    responses(
        (status = 200, description = "The user", body = UserView),
        (status = 409, description = "`email_taken` or `last_administrator`"),
        (status = 422, description = "`group_unknown`"),
    )
)]
pub(super) async fn put_user(
    AdminOnly(caller): AdminOnly,
    State(users): State<Arc<Users>>,
    PathId(id): PathId<UserId>,
    Body(body): Body<PutUser>,
) -> Result<Reply<UserView>, ApiError> {
    let user = users.change(&caller.actor(), &id, body.into()).await?;
    Ok(Reply(user.into()))
}
