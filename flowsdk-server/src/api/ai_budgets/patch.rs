//! `PATCH /ai/budgets/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::budget::{BudgetChange, BudgetId, BudgetView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Budgets;

/// Change a budget
#[utoipa::path(
    patch, path = "/ai/budgets/{id}", tag = "ai-budgets",
    params(("id" = BudgetId, Path, description = "The budget")),
    request_body = BudgetChange,
    responses((status = 200, description = "The budget", body = BudgetView))
)]
pub(super) async fn patch_ai_budget(
    can: Can<marks::Routers, marks::Write>,
    State(budgets): State<Arc<Budgets>>,
    PathId(id): PathId<BudgetId>,
    Body(change): Body<BudgetChange>,
) -> Result<Reply<BudgetView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(budgets.change(&author, reach, &id, change).await?))
}
