//! `GET /ai/prices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::price::{ModelPrice, ModelPriceId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ModelPrices;

/// Show a price of a model
#[utoipa::path(
    get, path = "/ai/prices/{id}", tag = "ai-prices",
    params(("id" = ModelPriceId, Path, description = "The price")),
    responses((status = 200, description = "The price", body = ModelPrice))
)]
pub(super) async fn get_ai_price(
    can: Can<marks::Routers, marks::Read>,
    State(prices): State<Arc<ModelPrices>>,
    PathId(id): PathId<ModelPriceId>,
) -> Result<Reply<ModelPrice>, ApiError> {
    Ok(Reply(prices.get(can.reach(), &id).await?))
}
