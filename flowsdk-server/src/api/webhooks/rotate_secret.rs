//! `POST /webhooks/{id}/rotate-secret`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::webhook::WebhookId;

use super::WebhookWithSecret;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// Give a webhook a new secret
///
/// The old one signs nothing more. The answer shows the new one, once.
#[utoipa::path(
    post, path = "/webhooks/{id}/rotate-secret", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    responses((status = 200, description = "The webhook with its secret", body = WebhookWithSecret))
)]
pub(super) async fn rotate_webhook_secret(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
) -> Result<Reply<WebhookWithSecret>, ApiError> {
    Ok(Reply(webhooks.rotate_secret(&can.caller.author(), can.reach(), &id).await?.into()))
}
