//! Storage of looks.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::TicketId;
use flowsdk_core::time::Timestamp;

use super::{Look, Viewer};

/// Looks at tickets, in one transaction.
#[async_trait]
pub trait ViewerRepository: Send {
    /// Stores what a desk looks at now, in place of what it looked at.
    ///
    /// # Errors
    /// [`StorageError::Orphan`] when the ticket or the user is gone.
    async fn look(&mut self, look: &Look) -> Result<(), StorageError>;

    /// Lets a desk look at nothing.
    async fn look_away(&mut self, desk: &str) -> Result<(), StorageError>;

    /// Lets the looks of these desks hold until `until`.
    async fn renew(&mut self, desks: &[String], until: Timestamp) -> Result<(), StorageError>;

    /// Returns the users who look at these tickets at `now`, each once a ticket, by name.
    async fn viewers(&mut self, tickets: &[TicketId], now: Timestamp) -> Result<Vec<Viewer>, StorageError>;

    /// Deletes the looks that held until before `before`; returns how many.
    async fn purge(&mut self, before: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with looks.
pub trait HasViewers: Send {
    /// Returns the repository of this transaction.
    fn viewers(&mut self) -> &mut dyn ViewerRepository;
}
