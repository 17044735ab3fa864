//! Storage of what models used.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::{Day, ModelCall, ModelUsage, UsagePart, UsageWanted};

/// The usage of models in one transaction.
#[async_trait]
pub trait ModelUsageRepository: Send {
    /// Notes calls.
    async fn note(&mut self, calls: &[ModelCall]) -> Result<(), StorageError>;

    /// Returns up to `limit` calls that are noted, and forgets their notes.
    async fn take(&mut self, limit: u32) -> Result<Vec<ModelCall>, StorageError>;

    /// Adds to what is counted, and to what routers have spent in a month. No two of these have the same router, work,
    /// agent, model and day.
    async fn add(&mut self, usage: &[ModelUsage]) -> Result<(), StorageError>;

    /// Returns what is counted, in groups, and the calls that are only noted, all of one moment; of the routers in `only`, if
    /// it is given; `limit` parts at most.
    async fn report(
        &mut self,
        wanted: &UsageWanted,
        only: Option<&[RouterId]>,
        limit: u32,
    ) -> Result<Vec<UsagePart>, StorageError>;

    /// Deletes up to `limit` sums of days before `before`, and what was spent in the months before; returns the number of
    /// sums.
    async fn forget(&mut self, before: Day, limit: u32) -> Result<u64, StorageError>;
}

/// A transaction with the usage of models.
pub trait HasModelUsage: Send {
    /// Returns the repository of this transaction.
    fn model_usage(&mut self) -> &mut dyn ModelUsageRepository;
}
