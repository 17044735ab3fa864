//! Storage of budgets, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::{BudgetId, BudgetInForce};
use crate::money::Money;

/// Budgets of one transaction.
#[async_trait]
pub trait BudgetRepository: Send {
    /// Returns what is spent in a month, as `2026-11`, of each of these routers that has spent something.
    async fn spent(
        &mut self,
        routers: &[RouterId],
        month: &str,
    ) -> Result<Vec<(RouterId, Money)>, StorageError>;

    /// Returns the active budgets, with what is spent in a month.
    async fn in_force(&mut self, month: &str) -> Result<Vec<BudgetInForce>, StorageError>;

    /// Notes that it is warned of a budget in a month. Returns whether it is the first time.
    async fn warn(&mut self, id: &BudgetId, month: &str) -> Result<bool, StorageError>;
}

/// A transaction with budgets.
pub trait HasBudgets: Send {
    /// Returns the repository of this transaction.
    fn budgets(&mut self) -> &mut dyn BudgetRepository;
}
