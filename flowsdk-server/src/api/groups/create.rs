//! `POST /groups`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::group::{Group, GroupView, NewGroup};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Groups;

/// Create a group
#[utoipa::path(
    post, path = "/groups", tag = "groups",
    params(IdempotencyParams),
    request_body = NewGroup,
    responses(
        (status = 201, description = "The group", body = GroupView),
        (status = 409, description = "`idempotency_conflict`"),
    )
)]
pub(super) async fn create_group(
    AdminOnly(caller): AdminOnly,
    State(groups): State<Arc<Groups>>,
    body: Idempotent<NewGroup>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&caller);
    let once =
        request.map(|request| Once { request, answer: |group: &Group| stored(&GroupView::from(group)) });
    Ok(match groups.create(&caller.actor(), new, once).await? {
        Outcome::Done(group) => {
            let body = GroupView::from(group);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
