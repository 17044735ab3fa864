//! A webhook as whoever makes it sees it.

use std::fmt;

use flowsdk_webhooks::delivery::Secret;
use flowsdk_webhooks::webhook::{Webhook, WebhookView};
use serde::Serialize;
use utoipa::ToSchema;

/// A webhook with its new secret.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookWithSecret {
    #[serde(flatten)]
    pub(super) webhook: WebhookView,
    /// By it the signature of each delivery is checked, as Standard Webhooks say. Shown now and never again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
}

impl fmt::Debug for WebhookWithSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookWithSecret").field("webhook", &self.webhook).finish_non_exhaustive()
    }
}

impl From<(Webhook, Secret)> for WebhookWithSecret {
    fn from((webhook, secret): (Webhook, Secret)) -> Self {
        Self { webhook: webhook.into(), secret: secret.expose().to_owned() }
    }
}
