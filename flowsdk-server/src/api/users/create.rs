//! `POST /users`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::user::{NewUser, UserView, UserWithGroup};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Users;

/// Create a user
#[utoipa::path(
    post, path = "/users", tag = "users",
    params(IdempotencyParams),
    request_body = NewUser,
    responses(
        (status = 201, description = "The user", body = UserView),
        (status = 409, description = "`email_taken` or `idempotency_conflict`"),
        (status = 422, description = "`group_unknown`"),
    )
)]
pub(super) async fn create_user(
    AdminOnly(caller): AdminOnly,
    State(users): State<Arc<Users>>,
    body: Idempotent<NewUser>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&caller);
    let once = request.map(|request| Once {
        request,
        answer: |created: &UserWithGroup| stored(&UserView::from(created.clone())),
    });
    Ok(match users.create(&caller.actor(), new, once).await? {
        Outcome::Done(created) => {
            let body = UserView::from(created);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
