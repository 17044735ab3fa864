//! The use cases of saved filters, and the reasons why they fail.

use std::sync::Arc;

use super::{
    ContactFilterChange, ContactFilterId, HasContactFilters, NewContactFilter, SavedContactFilter as Saved,
};
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
pub enum ContactFilterError {
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
pub struct ContactFilters<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> ContactFilters<S>
where
    S::Tx: HasContactFilters + HasRouters + HasIdempotency,
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
    ) -> Result<Page<Saved>, StorageError> {
        let router = router.map(AdmittedRouter::id);
        self.store.read().await?.contact_filters().list(router, reach.routers(), page).await
    }

    /// Returns a filter.
    ///
    /// # Errors
    /// [`ContactFilterError::NotFound`], [`ContactFilterError::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &ContactFilterId) -> Result<Saved, ContactFilterError> {
        within(self.store.read().await?.contact_filters().find(id).await?, reach)
    }

    /// Creates a filter, once for each idempotency key.
    ///
    /// # Errors
    /// [`ContactFilterError::RouterUnknown`], [`ContactFilterError::Idempotency`], [`ContactFilterError::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewContactFilter>,
        once: Option<Once<Saved>>,
    ) -> Result<Outcome<Saved>, ContactFilterError> {
        let NewContactFilter { router_id, name, q, origin } = new.into_inner();
        let outcome = perform_once(
            &*self.store,
            once,
            self.cx.now(),
            async |tx| -> Result<Saved, ContactFilterError> {
                tx.routers().find(&router_id).await?.ok_or(RouterUnknown)?;
                let (id, now) = (ContactFilterId::generate(self.cx.ids()), self.cx.now());
                let filter = Saved { id, router_id, name, q, origin, created_at: now, updated_at: now };
                tx.contact_filters().insert(&filter).await?;
                Ok(filter)
            },
        )
        .await?;
        Ok(outcome.inspect(|filter| self.changes.created(author, filter)))
    }

    /// Changes a filter.
    ///
    /// # Errors
    /// [`ContactFilterError::NotFound`], [`ContactFilterError::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactFilterId,
        change: ContactFilterChange,
    ) -> Result<Saved, ContactFilterError> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.contact_filters().find_for_update(id).await?, reach)?;
        let after = Saved { updated_at: self.cx.now(), ..change.apply(before.clone()) };
        tx.contact_filters().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a filter.
    ///
    /// # Errors
    /// [`ContactFilterError::NotFound`], [`ContactFilterError::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactFilterId,
    ) -> Result<(), ContactFilterError> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.contact_filters().find_for_update(id).await?, reach)?;
        tx.contact_filters().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn within(found: Option<Saved>, reach: Reach<'_>) -> Result<Saved, ContactFilterError> {
    found.filter(|filter| reach.contains(&filter.router_id)).ok_or(ContactFilterError::NotFound)
}
