//! `POST /flows/{id}/variables`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::id::FlowId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::router::VariableOwner;
use flowsdk_core::variable::{NewVariable, Variable, VariableView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::path::PathId;
use crate::api::reply::Created;
use crate::api::state::Variables;

/// Create a variable of a flow
///
/// Turns have it from the next message on.
#[utoipa::path(
    post, path = "/flows/{id}/variables", tag = "variables",
    params(("id" = FlowId, Path, description = "The flow"), IdempotencyParams),
    request_body = NewVariable,
    responses(
        (status = 201, description = "The variable", body = VariableView),
        (status = 409, description = "`key_taken` or `idempotency_conflict`"),
    )
)]
pub(in crate::api::variables) async fn create_flow_variable(
    can: Can<marks::Flows, marks::Write>,
    State(variables): State<Arc<Variables>>,
    PathId(id): PathId<FlowId>,
    body: Idempotent<NewVariable>,
) -> Result<Response, ApiError> {
    let collection = format!("/flows/{id}/variables");
    let (new, request) = body.of(&can.caller);
    let once = request
        .map(|request| Once { request, answer: |variable: &Variable| stored(&VariableView::from(variable)) });
    let (author, reach) = (can.caller.author(), can.reach());
    let owner = can.admit(VariableOwner::Flow(id))?;
    Ok(match variables.create(&author, owner, reach, new, once).await? {
        Outcome::Done(variable) => {
            let body = VariableView::from(variable);
            Created { collection, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection }.into_response(),
    })
}
