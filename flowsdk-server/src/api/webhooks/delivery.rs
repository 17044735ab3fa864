//! `GET /webhooks/{id}/deliveries/{deliveryId}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::delivery::{DeliveryDetail, DeliveryId};
use flowsdk_webhooks::webhook::WebhookId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Show a delivery
///
/// With what is sent and every attempt.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries/{deliveryId}", tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The webhook"),
        ("deliveryId" = DeliveryId, Path, description = "The delivery"),
    ),
    responses((status = 200, description = "The delivery", body = DeliveryDetail))
)]
pub(super) async fn get_webhook_delivery(
    can: Can<marks::Routers, marks::Read>,
    State(webhooks): State<Arc<Webhooks>>,
    PathIds(id, delivery): PathIds<WebhookId, DeliveryId>,
) -> Result<Reply<DeliveryDetail>, ApiError> {
    Ok(Reply(webhooks.delivery(can.reach(), &id, &delivery).await?.into()))
}
