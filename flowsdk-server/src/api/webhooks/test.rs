//! `POST /webhooks/{id}/test`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::delivery::DeliveryView;
use flowsdk_webhooks::webhook::WebhookId;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Try a webhook
///
/// Sends it the event `webhook.test`, whatever events it takes. What became of it is in its delivery.
#[utoipa::path(
    post, path = "/webhooks/{id}/test", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    responses((status = 200, description = "The delivery", body = DeliveryView))
)]
pub(super) async fn test_webhook(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
) -> Result<Reply<DeliveryView>, ApiError> {
    Ok(Reply(webhooks.test(can.reach(), &id).await?.into()))
}
