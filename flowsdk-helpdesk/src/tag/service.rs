//! The use cases of tags.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;

use super::{HasTags, NewTag, Tag, TagChange, TagError as Error, TagId};

/// Creates, shows, changes and deletes tags. A tag whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct Tags<S> {
    records: RouterRecords<S, Tag>,
    store: Arc<S>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Tags<S>
where
    S::Tx: HasRecords<Tag> + HasTags + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx, Arc::clone(&changes));
        Self { records, store, changes }
    }

    /// Returns a page of the tags within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Tag>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a tag.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &TagId) -> Result<Tag, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a tag, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::NameTaken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewTag>,
        once: Option<Once<Tag>>,
    ) -> Result<Outcome<Tag>, Error> {
        self.records.create(author, new, once).await
    }

    /// Changes a tag.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NameTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &TagId,
        change: TagChange,
    ) -> Result<Tag, Error> {
        self.records.change(author, reach, id, change).await
    }

    /// Deletes a tag, and takes it off the tickets that have it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &TagId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before: Tag = steps::find_for_update(&mut tx, reach, id).await?;
        tx.tags().take_off(&before.router_id, id).await?;
        HasRecords::<Tag>::records(&mut tx).delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}
