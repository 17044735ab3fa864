//! Storage of events that wait.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::{Letter, Urgency};

/// Events that wait, in one transaction.
#[async_trait]
pub trait InboxRepository: Send {
    /// Stores events. One whose key was stored before changes nothing.
    async fn put(&mut self, letters: &[Letter]) -> Result<(), StorageError>;

    /// Returns session, time and urgency of the events that wait, in the order in which they came, `limit` at most.
    async fn waiting(&mut self, limit: u32) -> Result<Vec<(SessionId, Timestamp, Urgency)>, StorageError>;

    /// Returns the events of sessions that wait, in the order in which they came.
    async fn of_sessions(&mut self, sessions: &[SessionId]) -> Result<Vec<Letter>, StorageError>;

    /// Takes events. Nothing but their keys is known from then on.
    async fn take(&mut self, ids: &[String], now: Timestamp) -> Result<(), StorageError>;

    /// Forgets up to `limit` events that were taken before `before`; returns their number.
    async fn forget(&mut self, before: Timestamp, limit: u32) -> Result<u64, StorageError>;
}

/// A transaction with events that wait.
pub trait HasInbox: Send {
    /// Returns the repository of this transaction.
    fn inbox(&mut self) -> &mut dyn InboxRepository;
}
