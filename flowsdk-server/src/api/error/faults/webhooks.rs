//! Errors of webhooks.

use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::router::RouterUnknown;
use flowsdk_webhooks::webhook::WebhookError;

use super::{Table, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
    table.add([
        WebhookError::NotFound,
        WebhookError::DeliveryNotFound,
        WebhookError::RouterUnknown(RouterUnknown),
        WebhookError::RangeEmpty,
        WebhookError::Idempotency(IdempotencyConflict),
        WebhookError::Storage(storage()),
    ]);
}
