//! `POST /queues`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::queue::{NewQueue, Queue};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Queues;

/// Create a queue
#[utoipa::path(
    post, path = "/queues", tag = "queues",
    params(IdempotencyParams),
    request_body = NewQueue,
    responses(
        (status = 201, description = "The queue", body = Queue),
        (status = 409, description = "`name_taken`: the router has a queue of this name; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_queue(
    can: Can<marks::Queues, marks::Write>,
    State(queues): State<Arc<Queues>>,
    body: Idempotent<NewQueue>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &Queue| stored(made) });
    Ok(match queues.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
