//! `POST /webhooks`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::webhook::NewWebhook;

use super::{COLLECTION, WebhookWithSecret};
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::reply::Created;
use crate::api::state::Webhooks;

/// Create a webhook
///
/// It takes events from a second after the answer on. The answer shows its secret, once.
#[utoipa::path(
    post, path = "/webhooks", tag = "webhooks",
    request_body = NewWebhook,
    responses(
        (status = 201, description = "The webhook with its secret", body = WebhookWithSecret),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_webhook(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    Body(new): Body<NewWebhook>,
) -> Result<Created<WebhookWithSecret>, ApiError> {
    let body = WebhookWithSecret::from(webhooks.create(&can.caller.author(), can.admit(new)?).await?);
    Ok(Created { collection: COLLECTION, id: body.webhook.id.to_string(), body })
}
