//! The use cases of routers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Router, RouterError};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::loader::{Load, Loader};
use crate::page::{Page, PageRequest};
use crate::store::{ConversationTx, Records, Store};

/// Shows routers. Lookups at the same time share their queries.
pub struct Routers<S> {
    store: Arc<S>,
    by_id: Loader<RouterId, Arc<Router>>,
}

impl<S> fmt::Debug for Routers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Routers")
    }
}

impl<S: Store> Routers<S>
where
    S::Tx: ConversationTx,
{
    /// A service over `store`.
    pub fn new(store: Arc<S>) -> Self {
        let by_id = Loader::new(ById(Arc::clone(&store)));
        Self { store, by_id }
    }

    /// A router.
    ///
    /// # Errors
    /// Any [`RouterError`].
    pub async fn get(&self, id: &RouterId) -> Result<Arc<Router>, RouterError> {
        let found = self.by_id.get(id.clone()).await.map_err(RouterError::Storage)?;
        found.ok_or(RouterError::NotFound)
    }

    /// A page of routers, newest first; of those in `only`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError> {
        self.store.read().await?.routers().list(only, page).await
    }
}

/// Routers by their ids.
struct ById<S>(Arc<S>);

#[async_trait]
impl<S: Store> Load<RouterId, Arc<Router>> for ById<S>
where
    S::Tx: ConversationTx,
{
    async fn load(&self, keys: &[RouterId]) -> Result<HashMap<RouterId, Arc<Router>>, StorageError> {
        let found = self.0.read().await?.routers().find_many(keys).await?;
        Ok(found.into_iter().map(|router| (router.id.clone(), Arc::new(router))).collect())
    }

    fn generation(&self) -> Option<u64> {
        self.0.generation(Records::Routers)
    }
}
