//! `PATCH /ai/prices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::price::{ModelPrice, ModelPriceChange, ModelPriceId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::ModelPrices;

/// Change a price of a model
///
/// What was counted before keeps its cost.
#[utoipa::path(
    patch, path = "/ai/prices/{id}", tag = "ai-prices",
    params(("id" = ModelPriceId, Path, description = "The price")),
    request_body = ModelPriceChange,
    responses((status = 200, description = "The price", body = ModelPrice))
)]
pub(super) async fn patch_ai_price(
    can: Can<marks::Routers, marks::Write>,
    State(prices): State<Arc<ModelPrices>>,
    PathId(id): PathId<ModelPriceId>,
    Body(change): Body<ModelPriceChange>,
) -> Result<Reply<ModelPrice>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(prices.change(&author, reach, &id, change).await?))
}
