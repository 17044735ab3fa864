//! `POST /queue-distribution-rules`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_helpdesk::rule::{DistributionRule, NewRule};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::DistributionRules;

/// Create a queue distribution rule
#[utoipa::path(
    post, path = "/queue-distribution-rules", tag = "queue-distribution-rules",
    params(IdempotencyParams),
    request_body = NewRule,
    responses(
        (status = 201, description = "The rule", body = DistributionRule),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`queue_unknown`, `flow_unknown`, `router_unknown`"),
    )
)]
pub(super) async fn create_queue_distribution_rule(
    can: Can<marks::Queues, marks::Write>,
    State(rules): State<Arc<DistributionRules>>,
    body: Idempotent<NewRule>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &DistributionRule| stored(made) });
    Ok(match rules.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
