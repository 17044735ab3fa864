//! The use cases of the settings.

use std::sync::Arc;

use super::{HasObservability, ObservabilityChange, ObservabilityError as Error, ObservabilitySettings};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::store::{Store, Transaction as _};

/// Shows and changes the settings.
#[derive(Debug)]
pub struct Observability<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Observability<S>
where
    S::Tx: HasObservability,
{
    /// Creates a service over `store`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, changes }
    }

    /// Returns the settings.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn get(&self) -> Result<ObservabilitySettings, Error> {
        Ok(self.store.read().await?.observability().get().await?)
    }

    /// Changes the settings.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        change: ObservabilityChange,
    ) -> Result<ObservabilitySettings, Error> {
        if change.endpoint.iter().flatten().any(|endpoint| !endpoint.is_encrypted()) {
            return Err(Error::Address);
        }
        let mut tx = self.store.begin().await?;
        let before = tx.observability().get_for_update().await?;
        let after = change.apply(before.clone(), &self.master_key, self.cx.now());
        tx.observability().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }
}
