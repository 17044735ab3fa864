//! `PATCH /users/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::user::{Email, Phone, UserChange, UserRole};
use flowsdk_core::id::{GroupId, UserId};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::UserView;
use crate::api::body::{Body, present};
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Users;

/// What is to change of a user; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchUser {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Souza")]
    name: Option<String>,
    #[schema(value_type = Email, required = false)]
    email: Option<Email>,
    #[schema(value_type = Phone, required = false)]
    phone: Option<Phone>,
    /// At most 72 bytes; ends every session of the user.
    #[schema(value_type = String, required = false, format = Password, min_length = 8, max_length = 72)]
    password: Option<SecretString>,
    #[schema(value_type = UserRole, required = false)]
    user_role: Option<UserRole>,
    /// Null takes him out of his group.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<GroupId>)]
    group_id: Option<Option<GroupId>>,
}

impl From<PatchUser> for UserChange {
    fn from(body: PatchUser) -> Self {
        Self {
            name: body.name,
            email: body.email,
            phone: body.phone.map(String::from),
            password: body.password,
            role: body.user_role,
            group_id: body.group_id,
        }
    }
}

/// Change a user
#[utoipa::path(
    patch, path = "/users/{id}", tag = "users",
    params(("id" = UserId, Path, description = "The user")),
    request_body = PatchUser,
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
    Body(body): Body<PatchUser>,
) -> Result<Reply<UserView>, ApiError> {
    let user = users.change(&caller.actor(), &id, body.into()).await?;
    Ok(Reply(user.into()))
}
