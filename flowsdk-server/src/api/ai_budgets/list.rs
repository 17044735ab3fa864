//! `GET /ai/budgets`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::budget::BudgetView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Budgets;

/// List budgets
///
/// A caller who is confined to routers sees theirs only. What is spent is some seconds old.
#[utoipa::path(
    get, path = "/ai/budgets", tag = "ai-budgets",
    params(PageParams, RouterParams),
    responses((status = 200, description = "A page of budgets", body = PageView<BudgetView>))
)]
pub(super) async fn list_ai_budgets(
    can: Can<marks::Routers, marks::Read>,
    State(budgets): State<Arc<Budgets>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<BudgetView>>, ApiError> {
    let router = can.admit(router)?;
    let page = budgets.list(can.reach(), &router, &page).await?;
    Ok(Reply(PageView::of(page, |budget| budget)))
}
