//! The use cases of saved filters, and the reasons why they fail.

use std::sync::Arc;

use super::{HasSavedFilters, NewSavedFilter, SavedFilter, SavedFilterChange, SavedFilterId};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::fault::{Fault, StorageError};
use crate::idempotency::{HasIdempotency, IdempotencyConflict, Once, Outcome, perform_once};
use crate::page::{Page, PageRequest};
use crate::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown};
use crate::store::{Store, Transaction as _};

/// The reason why a use case of saved filters fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum SavedFilterError {
    /// No such filter within reach.
    #[error("no such filter")]
    #[fault(NotFound, "not_found", pt = "Filtro não encontrado", en = "Filter not found")]
    NotFound,
    /// No such router to create it in.
    #[error(transparent)]
    #[fault(transparent)]
    RouterUnknown(#[from] RouterUnknown),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error("storage failed")]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

/// Creates, shows, changes and deletes saved filters. A filter whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct SavedFilters<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> SavedFilters<S>
where
    S::Tx: HasSavedFilters + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns a page of filters within reach, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<SavedFilter>, StorageError> {
        let router = router.map(AdmittedRouter::id);
        self.store.read().await?.saved_filters().list(router, reach.routers(), page).await
    }

    /// Returns a filter.
    ///
    /// # Errors
    /// [`SavedFilterError::NotFound`], [`SavedFilterError::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &SavedFilterId) -> Result<SavedFilter, SavedFilterError> {
        within(self.store.read().await?.saved_filters().find(id).await?, reach)
    }

    /// Creates a filter, once for each idempotency key.
    ///
    /// # Errors
    /// [`SavedFilterError::RouterUnknown`], [`SavedFilterError::Idempotency`], [`SavedFilterError::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewSavedFilter>,
        once: Option<Once<SavedFilter>>,
    ) -> Result<Outcome<SavedFilter>, SavedFilterError> {
        let NewSavedFilter { router_id, name, q, origin } = new.into_inner();
        let outcome = perform_once(
            &*self.store,
            once,
            self.cx.now(),
            async |tx| -> Result<SavedFilter, SavedFilterError> {
                tx.routers().find(&router_id).await?.ok_or(RouterUnknown)?;
                let (id, now) = (SavedFilterId::generate(self.cx.ids()), self.cx.now());
                let filter = SavedFilter {
                    id,
                    router_id,
                    name: name.into(),
                    q,
                    origin,
                    created_at: now,
                    updated_at: now,
                };
                match tx.saved_filters().insert(&filter).await {
                    // The router was deleted after it was looked for.
                    Err(StorageError::Orphan { .. }) => Err(RouterUnknown.into()),
                    inserted => inserted.map(|()| filter).map_err(SavedFilterError::from),
                }
            },
        )
        .await?;
        Ok(outcome.inspect(|filter| self.changes.created(author, filter)))
    }

    /// Changes a filter.
    ///
    /// # Errors
    /// [`SavedFilterError::NotFound`], [`SavedFilterError::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SavedFilterId,
        change: SavedFilterChange,
    ) -> Result<SavedFilter, SavedFilterError> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.saved_filters().find_for_update(id).await?, reach)?;
        let after = SavedFilter { updated_at: self.cx.now(), ..change.apply(before.clone()) };
        tx.saved_filters().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a filter.
    ///
    /// # Errors
    /// [`SavedFilterError::NotFound`], [`SavedFilterError::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &SavedFilterId,
    ) -> Result<(), SavedFilterError> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.saved_filters().find_for_update(id).await?, reach)?;
        tx.saved_filters().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn within(found: Option<SavedFilter>, reach: Reach<'_>) -> Result<SavedFilter, SavedFilterError> {
    found.filter(|filter| reach.contains(&filter.router_id)).ok_or(SavedFilterError::NotFound)
}
