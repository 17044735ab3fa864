//! `POST /ai/budgets`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::budget::{BudgetView, NewBudget};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Budgets;

/// Create a budget
///
/// A router has one. When models have cost as much in a month, new turns end with `fallback_stuck`, and no model is asked.
#[utoipa::path(
    post, path = "/ai/budgets", tag = "ai-budgets",
    params(IdempotencyParams),
    request_body = NewBudget,
    responses(
        (status = 201, description = "The budget", body = BudgetView),
        (status = 409, description = "`budget_taken`, `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_ai_budget(
    can: Can<marks::Routers, marks::Write>,
    State(budgets): State<Arc<Budgets>>,
    body: Idempotent<NewBudget>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |budget: &BudgetView| stored(budget) });
    Ok(match budgets.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.budget.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
