//! `POST /tags`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::tag::{NewTag, Tag};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Tags;

/// Create a tag
#[utoipa::path(
    post, path = "/tags", tag = "tags",
    params(IdempotencyParams),
    request_body = NewTag,
    responses(
        (status = 201, description = "The tag", body = Tag),
        (status = 409, description = "`name_taken`: the router has a tag of this name; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_tag(
    can: Can<marks::Helpdesk, marks::Write>,
    State(tags): State<Arc<Tags>>,
    body: Idempotent<NewTag>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &Tag| stored(made) });
    Ok(match tags.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
