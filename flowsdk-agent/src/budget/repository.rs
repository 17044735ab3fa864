//! Storage of budgets, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::{BudgetId, BudgetInForce};
use crate::money::Money;
use crate::usage::Day;

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

    /// Returns the active budget of a router, with what is spent in a month; `None` if it has none.
    async fn of_router(
        &mut self,
        router: &RouterId,
        month: &str,
    ) -> Result<Option<BudgetInForce>, StorageError>;

    /// Notes that it is warned of a budget in a month. Returns whether it is the first time.
    async fn warn(&mut self, id: &BudgetId, month: &str) -> Result<bool, StorageError>;
}

/// A transaction with budgets.
pub trait HasBudgets: Send {
    /// Returns the repository of this transaction.
    fn budgets(&mut self) -> &mut dyn BudgetRepository;
}

/// Returns whether models of a router are asked no more in the month of this moment.
pub(crate) async fn is_used_up<T: HasBudgets>(
    tx: &mut T,
    router: &RouterId,
    now: Timestamp,
) -> Result<bool, StorageError> {
    let budget = tx.budgets().of_router(router, &Day::of(now).month()).await?;
    Ok(budget.is_some_and(|budget| budget.is_used_up()))
}
