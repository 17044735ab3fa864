//! Storage of distribution rules, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::DistributionRule;

/// Distribution rules of one transaction.
#[async_trait]
pub trait RuleRepository: Send {
    /// Returns the active rules of these routers, in the order in which they are asked: by priority, then by age.
    async fn active_of(&mut self, routers: &[RouterId]) -> Result<Vec<DistributionRule>, StorageError>;
}

/// A transaction with distribution rules.
pub trait HasRules: Send {
    /// Returns the repository of this transaction.
    fn rules(&mut self) -> &mut dyn RuleRepository;
}
