//! The use cases of dead letters.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    DeadLetter, DeadLetterError as Error, DeadLetterFilter, DeadLetterSink, FailedEntry, HasDeadLetters,
};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::id::DeadLetterId;
use crate::page::{Page, PageRequest};
use crate::store::{Store, Transaction as _};
use crate::stream::broker::NewEntry;
use crate::stream::outbox::HasOutbox;

/// Records, shows, retries and deletes dead letters.
#[derive(Debug)]
pub struct DeadLetters<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> DeadLetters<S>
where
    S::Tx: HasDeadLetters + HasOutbox,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns a page of dead letters, newest first.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        filter: &DeadLetterFilter,
        page: &PageRequest,
    ) -> Result<Page<DeadLetter>, Error> {
        Ok(self.store.read().await?.dead_letters().list(filter, page).await?)
    }

    /// Returns a dead letter.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, id: &DeadLetterId) -> Result<DeadLetter, Error> {
        self.store.read().await?.dead_letters().find(id).await?.ok_or(Error::NotFound)
    }

    /// Publishes the entry again and deletes the dead letter, in one transaction. Every group that reads the stream
    /// gets the entry; those that have handled it before treat it as a repetition.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotRead`], [`Error::Storage`].
    pub async fn retry(&self, id: &DeadLetterId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let DeadLetter { topic, key, payload, .. } =
            tx.dead_letters().take(id).await?.ok_or(Error::NotFound)?;
        if !tx.outbox().is_read(topic) {
            return Err(Error::NotRead);
        }
        tx.outbox().push_many(&[NewEntry { topic, key, payload }]).await?;
        Ok(tx.commit().await?)
    }

    /// Deletes a dead letter for good.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, id: &DeadLetterId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        tx.dead_letters().take(id).await?.ok_or(Error::NotFound)?;
        Ok(tx.commit().await?)
    }
}

#[async_trait]
impl<S: Store> DeadLetterSink for DeadLetters<S>
where
    S::Tx: HasDeadLetters,
{
    async fn record(&self, entry: &FailedEntry) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.dead_letters().record(&DeadLetterId::generate(self.cx.ids()), entry).await?;
        tx.commit().await
    }
}
