//! `GET /ai/prices`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::price::ModelPrice;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::ModelPrices;

/// List prices of models
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/ai/prices", tag = "ai-prices",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of prices", body = PageView<ModelPrice>))
)]
pub(super) async fn list_ai_prices(
    can: Can<marks::Routers, marks::Read>,
    State(prices): State<Arc<ModelPrices>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<ModelPrice>>, ApiError> {
    let router = can.admit(router)?;
    let page = prices.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |price| price)))
}
