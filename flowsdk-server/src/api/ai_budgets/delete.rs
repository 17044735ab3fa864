//! `DELETE /ai/budgets/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::budget::BudgetId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Budgets;

/// Delete a budget
#[utoipa::path(
    delete, path = "/ai/budgets/{id}", tag = "ai-budgets",
    params(("id" = BudgetId, Path, description = "The budget")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_ai_budget(
    can: Can<marks::Routers, marks::Write>,
    State(budgets): State<Arc<Budgets>>,
    PathId(id): PathId<BudgetId>,
) -> Result<StatusCode, ApiError> {
    budgets.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
