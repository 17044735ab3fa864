//! `POST /webhooks/{id}/rotate-secret`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::text::Text;
use flowsdk_webhooks::webhook::{SecretOverlap, WebhookId};
use utoipa::IntoParams;

use super::WebhookWithSecret;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Webhooks;

/// How long the old secret goes on.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
pub(super) struct OverlapParams {
    /// Hours for which deliveries are signed by the old secret, too. With 0 it signs nothing more.
    #[param(minimum = 0, maximum = 168, default = 24, required = false)]
    overlap_hours: u64,
}

/// How long the old secret goes on.
pub(super) struct Overlap(SecretOverlap);

impl FromQuery for Overlap {
    fn read(query: &mut QueryReader) -> Self {
        let must = Text::new("Deve ser um inteiro de 0 a 168", "Must be an integer from 0 to 168");
        let parse = |text: &str| SecretOverlap::from_hours(text.parse().ok()?);
        Self(query.parsed("overlapHours", parse, must).unwrap_or_default())
    }
}

/// Give a webhook a new secret
///
/// The answer shows it, once. While the old one goes on, `webhook-signature` has a signature by each of them; one that was
/// replaced before that signs nothing more.
#[utoipa::path(
    post, path = "/webhooks/{id}/rotate-secret", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook"), OverlapParams),
    responses((status = 200, description = "The webhook with its secret", body = WebhookWithSecret))
)]
pub(super) async fn rotate_webhook_secret(
    can: Can<marks::Routers, marks::Write>,
    State(webhooks): State<Arc<Webhooks>>,
    PathId(id): PathId<WebhookId>,
    Query(Overlap(overlap)): Query<Overlap>,
) -> Result<Reply<WebhookWithSecret>, ApiError> {
    let rotated = webhooks.rotate_secret(&can.caller.author(), can.reach(), &id, overlap).await?;
    Ok(Reply(rotated.into()))
}
