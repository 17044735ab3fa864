//! `POST /close-reasons`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::close_reason::{CloseReason, NewCloseReason};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::CloseReasons;

/// Create a close reason
#[utoipa::path(
    post, path = "/close-reasons", tag = "close-reasons",
    params(IdempotencyParams),
    request_body = NewCloseReason,
    responses(
        (status = 201, description = "The close reason", body = CloseReason),
        (status = 409, description = "`key_taken`: the router has a close reason of this key; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_close_reason(
    can: Can<marks::Helpdesk, marks::Write>,
    State(reasons): State<Arc<CloseReasons>>,
    body: Idempotent<NewCloseReason>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &CloseReason| stored(made) });
    Ok(match reasons.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
