//! `POST /webhooks/{id}/deliveries/{deliveryId}/replay`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::delivery::{DeliveryId, DeliveryView};
use flowsdk_webhooks::webhook::WebhookId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathIds;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Send a delivery again
///
/// Whatever became of it, in its place among those of its conversation. One that waits is tried at once.
#[utoipa::path(
    post, path = "/webhooks/{id}/deliveries/{deliveryId}/replay", tag = "webhooks",
    params(
        ("id" = WebhookId, Path, description = "The webhook"),
        ("deliveryId" = DeliveryId, Path, description = "The delivery"),
    ),
    responses((status = 200, description = "The delivery", body = DeliveryView))
)]
pub(super) async fn replay_webhook_delivery(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathIds(id, delivery): PathIds<WebhookId, DeliveryId>,
) -> Result<Reply<DeliveryView>, ApiError> {
    Ok(Reply(webhooks.replay(can.reach(), &id, &delivery).await?.into()))
}
