//! Storage of reports.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::page::Cursor;

use super::{Day, Period, TicketFigures};
use crate::ticket::Ticket;

/// The tickets of people that were opened in a period, each of the routers in `only`, or of all. The largest groups come
/// first.
#[async_trait]
pub trait ReportRepository: Send {
    /// Returns the figures of all of them.
    async fn total(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
    ) -> Result<TicketFigures, StorageError>;

    /// Returns the figures of each day by its date; nothing of days without tickets.
    async fn by_day(
        &mut self,
        only: Option<&[RouterId]>,
        days: &[Day],
    ) -> Result<Vec<(String, TicketFigures)>, StorageError>;

    /// Returns the figures of up to `limit` queues.
    async fn by_queue(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(QueueId, TicketFigures)>, StorageError>;

    /// Returns the figures of up to `limit` users who had them last; `None` is nobody.
    async fn by_agent(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(Option<UserId>, TicketFigures)>, StorageError>;

    /// Returns the figures of up to `limit` reasons of closing; `None` is none.
    async fn by_reason(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(Option<String>, TicketFigures)>, StorageError>;

    /// Returns up to `limit` of them behind a place, oldest first.
    async fn page(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError>;
}

/// A transaction with reports.
pub trait HasReports: Send {
    /// Returns the repository of this transaction.
    fn reports(&mut self) -> &mut dyn ReportRepository;
}
