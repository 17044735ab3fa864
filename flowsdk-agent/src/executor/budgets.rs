//! What is known of the budgets of routers: turns look here, and ask no database.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::store::{Store, Transaction as _};

use super::{Executor, ExecutorTx};
use crate::budget::{BudgetInForce, HasBudgets as _};
use crate::usage::Day;

/// The error of a turn that was not begun because the budget of its router is used up.
pub(super) const NO_BUDGET: &str = "budget";

/// The part of a budget that is spent, by router.
const USED: &str = "flowsdk_ai_budget_used";

/// The budgets, as the last review found them.
#[derive(Debug, Default)]
pub(super) struct Budgets(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Routers with a budget.
    limited: HashSet<RouterId>,
    /// Those of them whose budget is used up.
    used_up: HashSet<RouterId>,
}

impl Budgets {
    /// Returns whether models of a router are asked no more in this month.
    pub(super) fn is_used_up(&self, router: &RouterId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).used_up.contains(router)
    }

    /// Learns which budgets there are.
    fn learn(&self, budgets: &[BudgetInForce]) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limited: HashSet<_> = budgets.iter().map(|budget| budget.router_id.clone()).collect();
        for gone in known.limited.difference(&limited) {
            metrics::gauge!(USED, "router" => gone.to_string()).set(0.0);
        }
        for budget in budgets {
            metrics::gauge!(USED, "router" => budget.router_id.to_string()).set(budget.used());
        }
        let used_up = budgets.iter().filter(|budget| budget.is_used_up());
        known.used_up = used_up.map(|budget| budget.router_id.clone()).collect();
        known.limited = limited;
    }

    /// Forgets all budgets: another process looks after them.
    pub(super) fn forget(&self) {
        self.learn(&[]);
    }
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Reads the budgets, and warns once a month of each that is nearly used up.
    pub(super) async fn review_budgets(&self) -> Result<(), StorageError> {
        let month = Day::of(self.cx.now()).month();
        let budgets = self.store.read().await?.budgets().in_force(&month).await?;
        self.budgets.learn(&budgets);
        let is_new = |budget: &&BudgetInForce| {
            budget.is_nearly_used_up() && budget.warned_of.as_deref() != Some(month.as_str())
        };
        let due: Vec<_> = budgets.iter().filter(is_new).collect();
        if due.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        let mut warned = Vec::new();
        for budget in due {
            if tx.budgets().warn(&budget.id, &month).await? {
                warned.push(budget);
            }
        }
        tx.commit().await?;
        for BudgetInForce { router_id, monthly_amount, spent, .. } in warned {
            tracing::warn!(router = %router_id, %spent, %monthly_amount, "80 % of the budget of AI agents are spent");
        }
        Ok(())
    }
}
