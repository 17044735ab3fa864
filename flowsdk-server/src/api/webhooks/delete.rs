//! `DELETE /webhooks/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::webhook::WebhookId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Webhooks;

/// Delete a webhook
///
/// With its deliveries: what waits is not sent.
#[utoipa::path(
    delete, path = "/webhooks/{id}", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_webhook(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, ApiError> {
    webhooks.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
