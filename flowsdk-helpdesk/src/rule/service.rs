//! The use cases of distribution rules.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::HasFlows;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, NewRecord as _, RecordChange as _, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;

use super::{DistributionRule, NewRule, RuleChange, RuleError as Error, RuleId};
use crate::queue::Queue;

/// Creates, shows, changes and deletes distribution rules. A rule whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct DistributionRules<S> {
    records: RouterRecords<S, DistributionRule>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> DistributionRules<S>
where
    S::Tx: HasRecords<DistributionRule> + HasRecords<Queue> + HasFlows + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the rules within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<DistributionRule>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a rule.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &RuleId) -> Result<DistributionRule, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a rule, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::QueueUnknown`], [`Error::FlowUnknown`],
    /// [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewRule>,
        once: Option<Once<DistributionRule>>,
    ) -> Result<Outcome<DistributionRule>, Error> {
        let new = new.into_inner();
        new.check()?;
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<DistributionRule, Error> {
                let rule = new.into_record(self.cx.ids(), self.cx.now());
                steps::check_router(tx, &rule).await?;
                check_links(tx, &rule).await?;
                steps::insert(tx, &rule).await?;
                Ok(rule)
            })
            .await?;
        Ok(outcome.inspect(|rule| self.changes.created(author, rule)))
    }

    /// Changes a rule.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::QueueUnknown`], [`Error::FlowUnknown`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &RuleId,
        change: RuleChange,
    ) -> Result<DistributionRule, Error> {
        change.check()?;
        let mut tx = self.store.begin().await?;
        let before: DistributionRule = steps::find_for_update(&mut tx, reach, id).await?;
        let after = change.apply(before.clone());
        check_links(&mut tx, &after).await?;
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a rule.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &RuleId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }
}

/// A rule names the queue and the flow of its own router only.
async fn check_links<X: HasRecords<Queue> + HasFlows>(
    tx: &mut X,
    rule: &DistributionRule,
) -> Result<(), Error> {
    let queue = tx.records().find(&rule.target_queue_id).await?;
    queue.filter(|queue| queue.router_id == rule.router_id).ok_or(Error::QueueUnknown)?;
    if let Some(flow) = &rule.flow_id {
        let flow = tx.flows().find(flow).await?;
        flow.filter(|flow| flow.router_id == rule.router_id).ok_or(Error::FlowUnknown)?;
    }
    Ok(())
}
