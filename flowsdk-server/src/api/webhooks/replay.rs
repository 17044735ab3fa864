//! `POST /webhooks/{id}/replay`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_webhooks::delivery::ReplayRange;
use flowsdk_webhooks::webhook::WebhookId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// How many deliveries are sent again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WebhookReplayed {
    #[schema(minimum = 0, example = 12)]
    count: u64,
}

/// Send the deliveries of a time again
///
/// Those of events that happened in it, in their order.
#[utoipa::path(
    post, path = "/webhooks/{id}/replay", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook")),
    request_body = ReplayRange,
    responses((status = 200, description = "How many there are", body = WebhookReplayed))
)]
pub(super) async fn replay_webhook(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
    Body(range): Body<ReplayRange>,
) -> Result<Reply<WebhookReplayed>, ApiError> {
    Ok(Reply(WebhookReplayed { count: webhooks.replay_range(can.reach(), &id, &range).await? }))
}
