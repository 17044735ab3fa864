//! `DELETE /ai/prices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::price::ModelPriceId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::ModelPrices;

/// Delete a price of a model
#[utoipa::path(
    delete, path = "/ai/prices/{id}", tag = "ai-prices",
    params(("id" = ModelPriceId, Path, description = "The price")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_ai_price(
    can: Can<marks::Routers, marks::Write>,
    State(prices): State<Arc<ModelPrices>>,
    PathId(id): PathId<ModelPriceId>,
) -> Result<StatusCode, ApiError> {
    prices.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
