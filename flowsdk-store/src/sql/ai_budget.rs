//! Budgets of models, and what routers have spent in a month.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::budget::{Budget, BudgetId, BudgetInForce, BudgetRepository, HasBudgets};
use flowsdk_agent::money::Money;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::row::{Cells, Row};
use super::statement::{Sql, sql, sql_list};

record! {
    Budget in "ai_budget" {
        id, router_id, created_at;
        monthly_amount, is_active, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<Budget>(&[]);

pub(super) const SPENT: Sql =
    sql_list!("SELECT router_id, cost FROM router_spending WHERE month = $2 AND router_id ", "$1", "");

const ACTIVE: &str = "SELECT ai_budget.id, ai_budget.router_id, monthly_amount, COALESCE(cost, 0), warned_of
     FROM ai_budget LEFT JOIN router_spending
        ON router_spending.router_id = ai_budget.router_id AND router_spending.month = $1
     WHERE is_active = 1";

pub(super) const IN_FORCE: Sql = sql(ACTIVE);

pub(super) const OF_ROUTER: Sql = sql(concat!(ACTIVE, " AND ai_budget.router_id = $2"));

const WARN: Sql =
    sql("UPDATE ai_budget SET warned_of = $2 WHERE id = $1 AND (warned_of IS NULL OR warned_of <> $2)");

super::statement::statements! { SPENT, IN_FORCE, OF_ROUTER, WARN; TABLE }

impl RouterTable for Budget {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

impl Row for BudgetInForce {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            id: cells.next()?,
            router_id: cells.next()?,
            monthly_amount: cells.next()?,
            spent: cells.next()?,
            warned_of: cells.next()?,
        })
    }
}

super::accessor::has!(HasBudgets::budgets -> BudgetRepository);

#[async_trait]
impl BudgetRepository for SqlTx {
    async fn spent(
        &mut self,
        routers: &[RouterId],
        month: &str,
    ) -> Result<Vec<(RouterId, Money)>, StorageError> {
        self.conn.fetch_all(SPENT, (Json(routers), month)).await
    }

    async fn in_force(&mut self, month: &str) -> Result<Vec<BudgetInForce>, StorageError> {
        self.conn.fetch_all(IN_FORCE, (month,)).await
    }

    async fn of_router(
        &mut self,
        router: &RouterId,
        month: &str,
    ) -> Result<Option<BudgetInForce>, StorageError> {
        self.conn.fetch_optional(OF_ROUTER, (month, router)).await
    }

    async fn warn(&mut self, id: &BudgetId, month: &str) -> Result<bool, StorageError> {
        Ok(self.conn.execute(WARN, (id, month)).await? > 0)
    }
}
