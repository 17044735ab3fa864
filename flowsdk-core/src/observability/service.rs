//! The use cases of the settings.

use std::sync::Arc;

use super::{HasObservability, ObservabilityChange, ObservabilityError as Error, ObservabilitySettings};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::store::{Store, Transaction as _};

/// Shows and changes the settings. They are no entity of the contract's audit log (spec A 2.7), so nothing is
/// noted of a change.
#[derive(Debug)]
pub struct Observability<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
}

impl<S: Store> Observability<S>
where
    S::Tx: HasObservability,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, master_key: Arc<MasterKey>) -> Self {
        Self { store, cx, master_key }
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
    pub async fn change(&self, change: ObservabilityChange) -> Result<ObservabilitySettings, Error> {
        if change.endpoint.iter().flatten().any(|endpoint| !endpoint.is_encrypted()) {
            return Err(Error::Address);
        }
        let mut tx = self.store.begin().await?;
        let before = tx.observability().get_for_update().await?;
        let after = change.apply(before, &self.master_key, self.cx.now());
        tx.observability().save(&after).await?;
        tx.commit().await?;
        Ok(after)
    }
}
