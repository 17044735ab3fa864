//! Storage of handoffs that no queue has taken yet.

use async_trait::async_trait;
use flowsdk_core::event::HandoffEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

/// A handoff that no queue has taken yet, because its router has no active one (rulings D4).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct StuckHandoff {
    pub session_id: SessionId,
    pub router_id: RouterId,
    pub event: HandoffEvent,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried again.
    pub due_at: Timestamp,
    /// When it was tried first.
    pub created_at: Timestamp,
}

impl StuckHandoff {
    /// Returns its place in lists.
    pub fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.session_id)
    }
}

/// Stuck handoffs of one transaction.
#[async_trait]
pub trait StuckHandoffRepository: Send {
    /// Keeps handoffs, one a session: a later one takes the place of the one before.
    async fn put_many(&mut self, stuck: &[StuckHandoff]) -> Result<(), StorageError>;

    /// Forgets the handoffs of these sessions.
    async fn remove_many(&mut self, sessions: &[SessionId]) -> Result<(), StorageError>;

    /// Returns up to `limit` handoffs that are due at `now`, the ones due first before others.
    async fn due(&mut self, now: Timestamp, limit: u32) -> Result<Vec<StuckHandoff>, StorageError>;

    /// Returns the handoffs of these sessions.
    async fn of_sessions(&mut self, sessions: &[SessionId]) -> Result<Vec<StuckHandoff>, StorageError>;

    /// Returns how many there are.
    async fn count(&mut self) -> Result<i64, StorageError>;

    /// Returns a page of them, the newest first; of a router, if it is given, and of those in `only`.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<StuckHandoff>, StorageError>;
}

/// A transaction with stuck handoffs.
pub trait HasStuckHandoffs: Send {
    /// Returns the repository of this transaction.
    fn stuck_handoffs(&mut self) -> &mut dyn StuckHandoffRepository;
}
