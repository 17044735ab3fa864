//! The use cases of budgets.

use std::collections::HashMap;
use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::Store;

use super::{Budget, BudgetChange, BudgetError as Error, BudgetId, BudgetView, HasBudgets, NewBudget};
use crate::money::Money;
use crate::usage::Day;

/// Creates, shows, changes and deletes budgets, with what is spent of them. A budget whose router is out of the caller's
/// reach is not found.
#[derive(Debug)]
pub struct Budgets<S> {
    records: RouterRecords<S, Budget>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Budgets<S>
where
    S::Tx: HasRecords<Budget> + HasBudgets + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the budgets within reach, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        page: &PageRequest,
    ) -> Result<Page<BudgetView>, StorageError> {
        let page = self.records.list(reach, router, None, page).await?;
        let routers: Vec<RouterId> = page.items.iter().map(|budget| budget.router_id.clone()).collect();
        let mut tx = self.store.read().await?;
        let spent: HashMap<_, _> = self.spent(&mut tx, &routers).await?.into_iter().collect();
        Ok(page.map(|budget| {
            let spent = spent.get(&budget.router_id).copied().unwrap_or_default();
            BudgetView { budget, spent }
        }))
    }

    /// Returns a budget.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &BudgetId) -> Result<BudgetView, Error> {
        let budget = self.records.get(reach, id).await?;
        self.view(&mut self.store.read().await?, budget).await
    }

    /// Creates a budget, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::Taken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewBudget>,
        once: Option<Once<BudgetView>>,
    ) -> Result<Outcome<BudgetView>, Error> {
        let new = new.into_inner();
        let create = async |tx: &mut S::Tx| -> Result<BudgetView, Error> {
            let budget = steps::create(tx, new, &self.cx).await?;
            self.view(tx, budget).await
        };
        let outcome = perform_once(&*self.store, once, self.cx.now(), create).await?;
        Ok(outcome.inspect(|made| self.changes.created(author, &made.budget)))
    }

    /// Changes a budget.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &BudgetId,
        change: BudgetChange,
    ) -> Result<BudgetView, Error> {
        let budget = self.records.change(author, reach, id, change).await?;
        self.view(&mut self.store.read().await?, budget).await
    }

    /// Deletes a budget: the router may spend what it likes.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &BudgetId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }

    async fn view(&self, tx: &mut S::Tx, budget: Budget) -> Result<BudgetView, Error> {
        let spent = self.spent(tx, std::slice::from_ref(&budget.router_id)).await?;
        let spent = spent.into_iter().next().map_or(Money::ZERO, |(_, spent)| spent);
        Ok(BudgetView { budget, spent })
    }

    /// Returns what routers have spent in this month.
    async fn spent(
        &self,
        tx: &mut S::Tx,
        routers: &[RouterId],
    ) -> Result<Vec<(RouterId, Money)>, StorageError> {
        tx.budgets().spent(routers, &Day::of(self.cx.now()).month()).await
    }
}
