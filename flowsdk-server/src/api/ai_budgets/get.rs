//! `GET /ai/budgets/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::budget::{BudgetId, BudgetView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Budgets;

/// Show a budget
#[utoipa::path(
    get, path = "/ai/budgets/{id}", tag = "ai-budgets",
    params(("id" = BudgetId, Path, description = "The budget")),
    responses((status = 200, description = "The budget", body = BudgetView))
)]
pub(super) async fn get_ai_budget(
    can: Can<marks::Routers, marks::Read>,
    State(budgets): State<Arc<Budgets>>,
    PathId(id): PathId<BudgetId>,
) -> Result<Reply<BudgetView>, ApiError> {
    Ok(Reply(budgets.get(can.reach(), &id).await?))
}
