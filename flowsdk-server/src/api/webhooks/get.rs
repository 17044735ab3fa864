//! `GET /webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::webhook::{WebhookId, WebhookView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Show a webhook
#[utoipa::path(
    get, path = "/webhooks/{id}", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    responses((status = 200, description = "The webhook", body = WebhookView))
)]
pub(super) async fn get_webhook(
    can: Can<marks::Routers, marks::Read>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
) -> Result<Reply<WebhookView>, ApiError> {
    Ok(Reply(webhooks.get(can.reach(), &id).await?.into()))
}
