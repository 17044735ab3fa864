//! The use cases of records, each in one transaction.

use crate::words::NameQuery;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{HasRecords, NewRecord, RecordChange, RouterRecord, steps};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::page::{NameSearch, Page, PageRequest};
use crate::router::{Admitted, HasRouters, Reach};
use crate::store::{Store, Transaction as _};

/// Lists, shows, creates, changes and deletes the records `R` of routers. A record whose router is out of the caller's
/// reach is not found. A change is noted after its commit.
#[derive(Debug)]
pub struct RouterRecords<S, R> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
    record: PhantomData<fn() -> R>,
}

impl<S: Store, R: RouterRecord> RouterRecords<S, R>
where
    S::Tx: HasRecords<R> + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes, record: PhantomData }
    }

    /// Returns a page of the records within reach that pass the filter and fit `query`, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<R::Filter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<R>, StorageError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.records().list(filter, reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a record.
    ///
    /// # Errors
    /// [`RouterRecord::not_found`], [`StorageError`].
    pub async fn get(&self, reach: Reach<'_>, id: &R::Id) -> Result<R, R::Error> {
        steps::find(&mut self.store.read().await?, reach, id).await
    }

    /// Creates a record, once for each idempotency key.
    ///
    /// # Errors
    /// Those of [`NewRecord::check`] and [`steps::create`],
    /// [`IdempotencyConflict`](crate::idempotency::IdempotencyConflict).
    pub async fn create<N: NewRecord<Record = R>>(
        &self,
        author: &Author,
        new: Admitted<N>,
        once: Option<Once<R>>,
    ) -> Result<Outcome<R>, R::Error> {
        let new = new.into_inner();
        new.check()?;
        let create = async |tx: &mut S::Tx| steps::create(tx, new, &self.cx).await;
        let outcome = perform_once(&*self.store, once, self.cx.now(), create).await?;
        Ok(outcome.inspect(|record| self.changes.created(author, record)))
    }

    /// Changes a record.
    ///
    /// # Errors
    /// Those of [`RecordChange::check`] and [`steps::change`].
    pub async fn change<C: RecordChange<Record = R>>(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &R::Id,
        change: C,
    ) -> Result<R, R::Error> {
        change.check()?;
        let mut tx = self.store.begin().await?;
        let (before, after) = steps::change(&mut tx, reach, id, change, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a record.
    ///
    /// # Errors
    /// [`RouterRecord::not_found`], those of [`RouterRecord::may_be_deleted`], [`StorageError`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &R::Id) -> Result<(), R::Error> {
        let mut tx = self.store.begin().await?;
        let before: R = steps::find_for_update(&mut tx, reach, id).await?;
        before.may_be_deleted()?;
        tx.records().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}
