//! Webhooks: who is told what of a router.

mod error;
mod model;
mod service;

pub use error::WebhookError;
pub use model::{NewWebhook, SecretOverlap, Webhook, WebhookChange, WebhookId, WebhookView};
pub use service::Webhooks;
