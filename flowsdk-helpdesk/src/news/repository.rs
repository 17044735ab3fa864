//! Storage of news.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};

use super::News;

/// News as stored.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct NewsRow {
    pub user_id: UserId,
    /// From 1, without gaps, in the order of the commits.
    pub seq: i64,
    pub event: String,
    pub payload: Map<String, Value>,
    pub key: Option<String>,
    pub created_at: Timestamp,
}

/// News of one transaction.
#[async_trait]
pub trait NewsRepository: Send {
    /// Appends news, in order, behind all that each user has. Those whose key is known are left out. It is the last step
    /// of a transaction: others who have news for the same users wait for its end.
    async fn append(&mut self, news: &[News], now: Timestamp) -> Result<(), StorageError>;

    /// Returns the number of the last news of a user; 0 if they never had any.
    async fn last(&mut self, user: &UserId) -> Result<i64, StorageError>;

    /// Returns the news of these users behind the number that comes with each, in order, up to `limit` in all. Older ones
    /// may be gone.
    async fn unseen(&mut self, desks: &[(UserId, i64)], limit: u32) -> Result<Vec<NewsRow>, StorageError>;

    /// Deletes news from before `before`; returns how many.
    async fn purge(&mut self, before: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with news.
pub trait HasNews: Send {
    /// Returns the repository of this transaction.
    fn news(&mut self) -> &mut dyn NewsRepository;
}
