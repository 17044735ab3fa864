//! `POST /ai/prices`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::price::{ModelPrice, NewModelPrice};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::ModelPrices;

/// Create a price of a model
///
/// It holds for what is counted from now on.
#[utoipa::path(
    post, path = "/ai/prices", tag = "ai-prices",
    params(IdempotencyParams),
    request_body = NewModelPrice,
    responses(
        (status = 201, description = "The price", body = ModelPrice),
        (status = 409, description = "`model_taken`, `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_ai_price(
    can: Can<marks::Routers, marks::Write>,
    State(prices): State<Arc<ModelPrices>>,
    body: Idempotent<NewModelPrice>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |price: &ModelPrice| stored(price) });
    Ok(match prices.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
