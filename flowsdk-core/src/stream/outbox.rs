//! Events written in the transaction of their cause (rulings S3).

use async_trait::async_trait;

use super::broker::NewEntry;
use super::topic::TopicName;
use crate::event::WebhookEventType;
use crate::fault::StorageError;
use crate::id::RouterId;

/// The events of one transaction, which become visible with its commit.
#[async_trait]
pub trait Outbox: Send {
    /// Appends events, in order.
    async fn push_many(&mut self, entries: &[NewEntry]) -> Result<(), StorageError>;

    /// Returns whether anybody reads the events of `topic`; events that nobody reads are not kept.
    fn is_read(&self, topic: TopicName) -> bool;

    /// Returns whether a webhook of a router takes events of a type, as far as this process knows. Nobody has to make
    /// events that nobody takes.
    fn is_announced(&self, _router: &RouterId, _event: WebhookEventType) -> bool {
        false
    }

    /// Returns whether a webhook of any router takes events of a type, as far as this process knows.
    fn is_announced_anywhere(&self, _event: WebhookEventType) -> bool {
        false
    }
}

/// A transaction with the outbox.
pub trait HasOutbox: Send {
    /// Returns the repository of this transaction.
    fn outbox(&mut self) -> &mut dyn Outbox;
}
