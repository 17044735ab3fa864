//! `POST /users`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::user::{Email, NewUser, Phone, UserRole, UserWithGroup};
use flowsdk_core::id::GroupId;
use flowsdk_core::idempotency::{Once, Outcome};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, UserView};
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Users;

/// A user to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateUser {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Souza")]
    name: String,
    email: Email,
    phone: Phone,
    /// At most 72 bytes.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 72)]
    password: SecretString,
    #[serde(default = "member")]
    #[schema(required = false)]
    user_role: UserRole,
    group_id: Option<GroupId>,
}

fn member() -> UserRole {
    UserRole::Member
}

impl From<CreateUser> for NewUser {
    fn from(body: CreateUser) -> Self {
        Self {
            name: body.name,
            email: body.email,
            phone: body.phone.into(),
            password: body.password,
            role: body.user_role,
            group_id: body.group_id,
        }
    }
}

/// Create a user
#[utoipa::path(
    post, path = "/users", tag = "users",
    params(IdempotencyParams),
    request_body = CreateUser,
    responses(
        (status = 201, description = "The user", body = UserView),
        (status = 409, description = "`email_taken` or `idempotency_conflict`"),
        (status = 422, description = "`group_unknown`"),
    )
)]
pub(super) async fn create_user(
    AdminOnly(caller): AdminOnly,
    State(users): State<Arc<Users>>,
    body: Idempotent<CreateUser>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&caller);
    let once = request.map(|request| Once {
        request,
        answer: |created: &UserWithGroup| stored(&UserView::from(created.clone())),
    });
    Ok(match users.create(&caller.actor(), body.into(), once).await? {
        Outcome::Done(created) => {
            let body = UserView::from(created);
            Created { collection: COLLECTION, id: body.id(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
