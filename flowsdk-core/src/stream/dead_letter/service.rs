//! The use cases of dead letters.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    DeadLetter, DeadLetterError as Error, DeadLetterFilter, DeadLetterSink, FailedEntry, HasDeadLetters,
};
use crate::change::{Author, Change, ChangeLog, NoChangeLog, Recorded as _};
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
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> DeadLetters<S>
where
    S::Tx: HasDeadLetters + HasOutbox,
{
    /// Creates a service over `store`. Its changes are noted nowhere.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx, changes: Arc::new(NoChangeLog) }
    }

    /// The same service, with its changes noted in `changes`.
    #[must_use]
    pub fn noted_in(mut self, changes: Arc<dyn ChangeLog>) -> Self {
        self.changes = changes;
        self
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
    pub async fn retry(&self, author: &Author, id: &DeadLetterId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let letter = tx.dead_letters().take(id).await?.ok_or(Error::NotFound)?;
        let DeadLetter { topic, key, payload, .. } = letter.clone();
        if !tx.outbox().is_read(topic) {
            return Err(Error::NotRead);
        }
        tx.outbox().push_many(&[NewEntry { topic, key, payload }]).await?;
        tx.commit().await?;
        let (before, mut after) = (letter.to_json(), letter.to_json());
        after["retriedAt"] = self.cx.now().to_iso().into();
        self.changes.note(author, letter.entity(), Change::Updated { before, after, hidden: Vec::new() });
        Ok(())
    }

    /// Deletes a dead letter for good.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, id: &DeadLetterId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let letter = tx.dead_letters().take(id).await?.ok_or(Error::NotFound)?;
        tx.commit().await?;
        self.changes.deleted(author, &letter);
        Ok(())
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
