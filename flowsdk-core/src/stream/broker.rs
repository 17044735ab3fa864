//! The broker port.
//!
//! A stream is a log of entries per partition. A *group* receives every entry once or more; it is
//! read by one owner at a time (see [`crate::lease`]). An entry that was read and not acknowledged
//! is given again to the next owner, before anything new. Some brokers also give *tails* ([`Tails`]):
//! a tail sees every entry that is published after it was opened, without acknowledging.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::topic::{StreamPartition, Topic, TopicName};
use crate::fault::BoxError;

/// A failure of the broker itself.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// It cannot be reached now; nothing was published or acknowledged for sure.
    #[error("broker unavailable: {0}")]
    Unavailable(#[source] BoxError),
    /// The stored value is not an entry.
    #[error("entry {id} cannot be read: {reason}")]
    Corrupt {
        /// The id of the entry.
        id: String,
        /// Why it cannot be read.
        reason: String,
    },
}

/// An entry to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct NewEntry {
    pub topic: TopicName,
    /// The key that keeps entries in order; decides the partition.
    pub key: String,
    /// The event as JSON.
    pub payload: String,
}

impl NewEntry {
    /// Returns an entry of topic `T`.
    ///
    /// # Panics
    /// Never: event types serialise to JSON by construction.
    #[allow(clippy::expect_used, reason = "derived Serialize over string-keyed types cannot fail")]
    pub fn of<T: Topic>(event: &T::Event) -> Self {
        Self {
            topic: T::NAME,
            key: T::key(event).to_owned(),
            payload: serde_json::to_string(event).expect("events serialise"),
        }
    }
}

/// An entry as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The broker's id of the entry, unique in its partition.
    pub id: String,
    /// The key that keeps entries in order.
    pub key: String,
    /// The event as JSON.
    pub payload: String,
}

/// Reads one partition for one group, or as a tail.
#[async_trait]
pub trait StreamReader: Send + Debug {
    /// Returns up to `count` entries that this reader has not returned yet, oldest first; waits up to `wait` for
    /// the first. An empty list is not an error. Not cancel-safe: give it a task of its own.
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError>;
}

/// Carries streams from producers to consumer groups.
#[async_trait]
pub trait Broker: Send + Sync + Debug {
    /// Returns how many partitions each stream has.
    fn partitions(&self) -> u32;

    /// Appends entries durably, in order.
    async fn publish(&self, entries: &[NewEntry]) -> Result<(), BrokerError>;

    /// Opens `stream` for `group` as `consumer`. The reader first returns everything that was read by
    /// an earlier owner and not acknowledged. The caller holds the lease.
    async fn open(
        &self,
        stream: StreamPartition,
        group: &str,
        consumer: &str,
    ) -> Result<Box<dyn StreamReader>, BrokerError>;

    /// Acknowledges entries of a group.
    async fn ack(&self, stream: StreamPartition, group: &str, ids: &[String]) -> Result<(), BrokerError>;

    /// Entries of a group that were not acknowledged yet, read or not; for health and tests.
    async fn backlog(&self, stream: StreamPartition, group: &str) -> Result<u64, BrokerError>;

    /// Returns the id of the last entry that a group has read, for health. `None` before the first one, and by brokers
    /// that do not keep it.
    async fn last_read(&self, stream: StreamPartition, group: &str) -> Result<Option<String>, BrokerError> {
        let _ = (stream, group);
        Ok(None)
    }
}

/// A broker whose streams can be read outside any group. One that keeps an entry only until its groups
/// have acknowledged it cannot give this.
#[async_trait]
pub trait Tails: Broker {
    /// Opens `stream` at its present end.
    async fn tail(&self, stream: StreamPartition) -> Result<Box<dyn StreamReader>, BrokerError>;
}
