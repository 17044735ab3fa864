//! Storage of deliveries.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::{Attempt, Delivery, DeliveryFilter, DeliveryId, DueDelivery, ReplayRange};
use crate::webhook::{Webhook, WebhookId};

/// Deliveries of one transaction.
#[async_trait]
pub trait DeliveryRepository: Send {
    /// Returns the active webhooks of these routers.
    async fn webhooks_of(&mut self, routers: &[RouterId]) -> Result<Vec<Webhook>, StorageError>;

    /// Appends deliveries, each behind all others of its webhook and conversation, and due now unless one of these is
    /// pending. No two of them are of one webhook and conversation. One of an event that the webhook has is left out, and
    /// so are one of a webhook that is gone and what is told of a contact that is gone, but its end.
    async fn append(&mut self, new: &[Delivery], now: Timestamp) -> Result<(), StorageError>;

    /// Returns up to `limit` deliveries that are due, up to `each` of a webhook, which is active and not paused.
    async fn due(&mut self, now: Timestamp, each: u32, limit: u32) -> Result<Vec<DueDelivery>, StorageError>;

    /// Lets the first pending delivery of each conversation be due, if it waits for another one.
    async fn wake(&mut self, now: Timestamp) -> Result<u64, StorageError>;

    /// Does so for one webhook.
    async fn wake_all_of(&mut self, webhook: &WebhookId, now: Timestamp) -> Result<(), StorageError>;

    /// Lets no delivery of a webhook be due.
    async fn rest(&mut self, webhook: &WebhookId) -> Result<(), StorageError>;

    /// Stores status, attempts and times of a delivery that is pending and was tried so often `before`. Returns whether it
    /// was: somebody may have replayed it meanwhile.
    async fn settle(&mut self, delivery: &Delivery, before: i64) -> Result<bool, StorageError>;

    /// Lets the next pending delivery of a webhook and conversation be due.
    async fn wake_next(&mut self, webhook: &WebhookId, key: &str, now: Timestamp)
    -> Result<(), StorageError>;

    /// Stores an attempt.
    async fn add_attempt(&mut self, attempt: &Attempt) -> Result<(), StorageError>;

    /// Notes that a webhook takes deliveries.
    async fn note_success(&mut self, webhook: &WebhookId) -> Result<(), StorageError>;

    /// Notes that a webhook has failed now. One that fails since `pause_before` or longer is paused; returns whether this
    /// paused it.
    async fn note_failure(
        &mut self,
        webhook: &WebhookId,
        now: Timestamp,
        pause_before: Timestamp,
    ) -> Result<bool, StorageError>;

    /// Returns a page of the deliveries of a webhook, newest first.
    async fn list(
        &mut self,
        webhook: &WebhookId,
        filter: &DeliveryFilter,
        page: &PageRequest,
    ) -> Result<Page<Delivery>, StorageError>;

    /// Returns a delivery of a webhook.
    async fn find(&mut self, webhook: &WebhookId, id: &DeliveryId) -> Result<Option<Delivery>, StorageError>;

    /// Returns the attempts of a delivery, the oldest first.
    async fn attempts(&mut self, id: &DeliveryId) -> Result<Vec<Attempt>, StorageError>;

    /// Lets a delivery of a webhook be pending as if it were new, but not due. Returns whether there is one.
    async fn replay_one(&mut self, webhook: &WebhookId, id: &DeliveryId) -> Result<bool, StorageError>;

    /// Does so with the deliveries of a time. Returns how many.
    async fn replay_range(&mut self, webhook: &WebhookId, range: &ReplayRange) -> Result<u64, StorageError>;

    /// Deletes deliveries of events before `before`, up to `limit`; returns how many.
    async fn purge(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError>;

    /// Deletes secrets that were replaced and sign nothing from `now` on; returns how many.
    async fn forget_secrets(&mut self, now: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with deliveries.
pub trait HasDeliveries: Send {
    /// Returns the repository of this transaction.
    fn deliveries(&mut self) -> &mut dyn DeliveryRepository;
}
