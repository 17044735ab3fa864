//! The use cases of such records.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, NewRecord, RecordChange, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;

use super::{AgentPart, AgentPartError as Error, AgentPartFilter};
use crate::agent::AiAgent;

/// Creates, shows, changes and deletes records that name AI agents of their router. A record whose router is out of the
/// caller's reach is not found.
#[derive(Debug)]
pub struct AgentParts<S, R> {
    records: RouterRecords<S, R>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store, R: AgentPart> AgentParts<S, R>
where
    S::Tx: HasRecords<R> + HasRecords<AiAgent> + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the records within reach that pass the filter and fit `query`, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<AgentPartFilter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<R>, StorageError> {
        self.records.list(reach, filter, query, page).await
    }

    /// Returns a record.
    ///
    /// # Errors
    /// [`RouterRecord::not_found`](flowsdk_core::record::RouterRecord::not_found), [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &R::Id) -> Result<R, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a record, once for each idempotency key.
    ///
    /// # Errors
    /// Those of the checks of the command and of the record, [`Error::RouterUnknown`], [`Error::AgentUnknown`],
    /// [`Error::RouteTaken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create<N: NewRecord<Record = R>>(
        &self,
        author: &Author,
        new: Admitted<N>,
        once: Option<Once<R>>,
    ) -> Result<Outcome<R>, Error> {
        let new = new.into_inner();
        new.check()?;
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<R, Error> {
            let record = new.into_record(self.cx.ids(), self.cx.now());
            record.check()?;
            steps::check_router(tx, &record).await?;
            check_agents(tx, &record).await?;
            steps::insert(tx, &record).await?;
            Ok(record)
        })
        .await?;
        Ok(outcome.inspect(|record| self.changes.created(author, record)))
    }

    /// Changes a record.
    ///
    /// # Errors
    /// Those of the checks of the command and of the record,
    /// [`RouterRecord::not_found`](flowsdk_core::record::RouterRecord::not_found), [`Error::Storage`].
    pub async fn change<C: RecordChange<Record = R>>(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &R::Id,
        change: C,
    ) -> Result<R, Error> {
        change.check()?;
        let mut tx = self.store.begin().await?;
        let before: R = steps::find_for_update(&mut tx, reach, id).await?;
        let after = change.apply(before.clone());
        after.check()?;
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a record.
    ///
    /// # Errors
    /// [`RouterRecord::not_found`](flowsdk_core::record::RouterRecord::not_found), [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &R::Id) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }
}

/// Checks that the agents that a record names are of its router.
async fn check_agents<R: AgentPart, X: HasRecords<AiAgent>>(tx: &mut X, record: &R) -> Result<(), Error> {
    for (field, id) in record.agents() {
        let agent = tx.records().find(id).await?;
        agent.filter(|agent| agent.router_id == *record.router_id()).ok_or(Error::AgentUnknown(field))?;
    }
    Ok(())
}
