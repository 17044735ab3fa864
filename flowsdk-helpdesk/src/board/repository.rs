//! Storage of boards.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};
use flowsdk_core::time::Timestamp;

use super::{BoardFilter, TicketCount};
use crate::ticket::{Ticket, TicketStatus};

/// What boards show, of one transaction. Only tickets of people count.
#[async_trait]
pub trait BoardRepository: Send {
    /// Returns how many tickets of a router are open, by queue, user and state.
    async fn open_counts(&mut self, router: &RouterId) -> Result<Vec<TicketCount>, StorageError>;

    /// Returns how many tickets of a router were closed since a moment, by queue and user, without those that go on as
    /// another one.
    async fn closed_counts(
        &mut self,
        router: &RouterId,
        since: Timestamp,
    ) -> Result<Vec<TicketCount>, StorageError>;

    /// Returns up to `limit` tickets in a state that is not closed, the oldest first.
    async fn open_tickets(
        &mut self,
        filter: &BoardFilter,
        status: TicketStatus,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` of the tickets that [`Self::closed_counts`] counts, those that were closed last first.
    async fn closed_tickets(
        &mut self,
        filter: &BoardFilter,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Returns the queues of a router by name: id, name and whether it is active.
    async fn queues(&mut self, router: &RouterId) -> Result<Vec<(QueueId, String, bool)>, StorageError>;
}

/// A transaction with boards.
pub trait HasBoard: Send {
    /// Returns the repository of this transaction.
    fn board(&mut self) -> &mut dyn BoardRepository;
}
