//! Storage of summaries.

use async_trait::async_trait;
use flowsdk_core::event::SummaryRequest;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

/// What is to be summarised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarySubject {
    /// The router of the ticket or chat.
    pub router_id: RouterId,
    /// When it was opened. What was said before belongs to others.
    pub since: Timestamp,
    /// Whether its summary is written.
    pub has_summary: bool,
}

/// Summaries of one transaction.
#[async_trait]
pub trait SummaryRepository: Send {
    /// Returns the ticket or chat of a request; `None` if it is gone, or has no router.
    async fn subject(&mut self, request: &SummaryRequest) -> Result<Option<SummarySubject>, StorageError>;

    /// Writes the summary of a request, unless there is one: to its ticket or chat, and as the contact's last one, unless
    /// that is of a later one.
    async fn write(&mut self, request: &SummaryRequest, summary: &str) -> Result<(), StorageError>;
}

/// A transaction with summaries.
pub trait HasSummaries: Send {
    /// Returns the repository of this transaction.
    fn summaries(&mut self) -> &mut dyn SummaryRepository;
}
