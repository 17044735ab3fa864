//! Storage of the figures.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;

use crate::agent::Person;
use crate::ticket::{Ticket, TicketKind, TicketStatus};

/// How many tickets of people are open in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct OpenInQueue {
    pub queue_id: QueueId,
    pub waiting: i64,
    pub assigned: i64,
    /// When the oldest ticket that waits was opened.
    pub oldest: Option<Timestamp>,
}

/// What became of the tickets of people since a moment. Averages are in milliseconds, and absent without a ticket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Today {
    /// Those that do not go on as another ticket.
    pub closed: i64,
    pub abandoned: i64,
    /// From opening to assignment.
    pub avg_queue_ms: Option<i64>,
    /// From assignment to the end.
    pub avg_service_ms: Option<i64>,
    /// From opening to the first answer.
    pub avg_first_response_ms: Option<i64>,
}

/// The figures of one transaction, each of the routers in `only`, or of all.
#[async_trait]
pub trait MonitoringRepository: Send {
    /// Returns the queues with open tickets.
    async fn open_by_queue(&mut self, only: Option<&[RouterId]>) -> Result<Vec<OpenInQueue>, StorageError>;

    /// Returns how many open tickets each user has; nothing of users without any.
    async fn open_by_user(&mut self, only: Option<&[RouterId]>) -> Result<Vec<(UserId, i64)>, StorageError>;

    /// Returns the agents with their presence at `now`, each once, by name.
    async fn agents(
        &mut self,
        only: Option<&[RouterId]>,
        now: Timestamp,
    ) -> Result<Vec<Person>, StorageError>;

    /// Returns up to `limit` tickets of a kind in a state, the oldest first.
    async fn oldest(
        &mut self,
        only: Option<&[RouterId]>,
        kind: TicketKind,
        status: TicketStatus,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Returns what became of tickets since a moment.
    async fn since(&mut self, only: Option<&[RouterId]>, since: Timestamp) -> Result<Today, StorageError>;
}

/// A transaction with figures.
pub trait HasMonitoring: Send {
    /// Returns the repository of this transaction.
    fn monitoring(&mut self) -> &mut dyn MonitoringRepository;
}
