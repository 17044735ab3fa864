//! Storage of close reasons, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

/// Close reasons of one transaction.
#[async_trait]
pub trait CloseReasonRepository: Send {
    /// Returns whether a ticket of the router may be closed with `reason`: the router has no active close reason, or
    /// `reason` is the key of one.
    async fn takes(&mut self, router: &RouterId, reason: &str) -> Result<bool, StorageError>;
}

/// A transaction with close reasons.
pub trait HasCloseReasons: Send {
    /// Returns the repository of this transaction.
    fn close_reasons(&mut self) -> &mut dyn CloseReasonRepository;
}
