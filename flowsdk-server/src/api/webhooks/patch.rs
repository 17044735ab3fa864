//! `PATCH /webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::webhook::{WebhookChange, WebhookId, WebhookView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Change a webhook
#[utoipa::path(
    patch, path = "/webhooks/{id}", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    request_body = WebhookChange,
    responses((status = 200, description = "The webhook", body = WebhookView))
)]
pub(super) async fn patch_webhook(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
    Body(change): Body<WebhookChange>,
) -> Result<Reply<WebhookView>, ApiError> {
    Ok(Reply(webhooks.change(&can.caller.author(), can.reach(), &id, change).await?.into()))
}
