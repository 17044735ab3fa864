//! The use cases of routers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{NewRouter, RouterChange, RouterError};
use crate::admin::flow::{NoOpening, no_opening, require_initial};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::credential::HasLlmCredentials;
use crate::crypto::MasterKey;
use crate::fault::StorageError;
use crate::flow::HasFlows;
use crate::id::{LlmCredentialId, RouterId};
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::loader::{Load, Loader};
use crate::page::{NameSearch, Page, PageRequest};
use crate::router::{Admitted, AdmittedRouter, AllRouters, HasRouterCatalog, HasRouters, Reach, Router};
use crate::session::{HasLiveSessions, SessionsOf};
use crate::store::{Records, Store, Transaction as _};
use crate::words::NameQuery;

/// A router as it is after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRouter {
    /// The router.
    pub router: Router,
    /// Why its initial flow answers nobody. A router without one has chosen that, so it has no reason here.
    pub no_opening: Option<NoOpening>,
}

/// Creates, shows, changes and deletes routers. Lookups at the same time share their queries; turns read routers
/// and routes from storage, so a change counts with the next turn, in every process.
pub struct Routers<S> {
    store: Arc<S>,
    by_id: Loader<RouterId, Arc<Router>>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
}

impl<S> fmt::Debug for Routers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Routers")
    }
}

impl<S: Store> Routers<S>
where
    S::Tx: HasRouters + HasRouterCatalog + HasLiveSessions + HasFlows + HasLlmCredentials + HasIdempotency,
{
    /// Creates a service over `store`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        let by_id = Loader::new(ById(Arc::clone(&store)));
        Self { store, by_id, cx, master_key, changes }
    }

    /// Returns a router.
    ///
    /// # Errors
    /// [`RouterError::NotFound`], [`RouterError::Storage`].
    pub async fn get(&self, id: &AdmittedRouter) -> Result<Arc<Router>, RouterError> {
        let found = self.by_id.get(id.id().clone()).await.map_err(RouterError::Storage)?;
        found.ok_or(RouterError::NotFound)
    }

    /// Returns a page of the routers within reach whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Router>, StorageError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.routers().list(reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Creates a router, once for each idempotency key. Only a caller without a router restriction may create one.
    ///
    /// # Errors
    /// [`RouterError::FlowUnknown`] for any initial flow: a new router has none. [`RouterError::CredentialUnknown`],
    /// [`RouterError::Idempotency`], [`RouterError::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        _all_routers: Admitted<AllRouters>,
        new: NewRouter,
        once: Option<Once<Router>>,
    ) -> Result<Outcome<Router>, RouterError> {
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let router = new.into_router(RouterId::generate(self.cx.ids()), &self.master_key, self.cx.now());
            if router.initial_flow_id.is_some() {
                return Err(RouterError::FlowUnknown);
            }
            if !lock_credential(tx, router.llm_credential_id.as_ref()).await? {
                return Err(RouterError::CredentialUnknown);
            }
            tx.routers().insert(&router).await?;
            Ok(router)
        })
        .await?;
        Ok(outcome.inspect(|router| self.changes.created(author, router)))
    }

    /// Changes a router.
    ///
    /// # Errors
    /// [`RouterError::NotFound`], [`RouterError::FlowUnknown`], [`RouterError::FlowIsTool`],
    /// [`RouterError::CredentialUnknown`],
    /// [`RouterError::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        id: &AdmittedRouter,
        change: RouterChange,
    ) -> Result<ChangedRouter, RouterError> {
        let mut tx = self.store.begin().await?;
        // Before the router: who deletes a credential locks it, and then the routers that name it.
        let credential = change.llm_credential_id.as_ref().and_then(Option::as_ref);
        let is_known = lock_credential(&mut tx, credential).await?;
        let before = tx.router_catalog().find_for_update(id).await?.ok_or(RouterError::NotFound)?;
        if !is_known {
            return Err(RouterError::CredentialUnknown);
        }
        if let Some(Some(flow)) = &change.initial_flow_id {
            require_initial(&mut tx, id, flow).await?;
        }
        let after = change.apply(before.clone(), &self.master_key, self.cx.now());
        tx.router_catalog().save(&after).await?;
        let no_opening = match &after.initial_flow_id {
            Some(flow) => no_opening(&mut tx, Some(flow), false).await?,
            None => None,
        };
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(ChangedRouter { router: after, no_opening })
    }

    /// Deletes a router with its flows, variables and channels. Open sessions stand in the way; with `force`
    /// they end. Chats stay, closed and without a router (rulings S13, S9).
    ///
    /// # Errors
    /// [`RouterError::NotFound`], [`RouterError::InUse`], [`RouterError::Storage`].
    pub async fn delete(&self, author: &Author, id: &AdmittedRouter, force: bool) -> Result<(), RouterError> {
        let mut tx = self.store.begin().await?;
        let before = tx.router_catalog().find_for_update(id).await?.ok_or(RouterError::NotFound)?;
        let sessions = SessionsOf::Router(id);
        let dependants = tx.live_sessions().make_way(sessions, force).await?;
        dependants.must_be_none().map_err(RouterError::InUse)?;
        tx.router_catalog().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

/// Returns whether there is such a credential, which then stays until the end of the transaction. `None` is always
/// there.
async fn lock_credential<X: HasLlmCredentials>(
    tx: &mut X,
    credential: Option<&LlmCredentialId>,
) -> Result<bool, StorageError> {
    match credential {
        Some(id) => Ok(tx.llm_credentials().find_for_update(id).await?.is_some()),
        None => Ok(true),
    }
}

/// Routers by their ids.
struct ById<S>(Arc<S>);

#[async_trait]
impl<S: Store> Load<RouterId, Arc<Router>> for ById<S>
where
    S::Tx: HasRouters,
{
    async fn load(&self, keys: &[RouterId]) -> Result<HashMap<RouterId, Arc<Router>>, StorageError> {
        let found = self.0.read().await?.routers().find_many(keys).await?;
        Ok(found.into_iter().map(|router| (router.id.clone(), Arc::new(router))).collect())
    }

    fn generation(&self) -> Option<u64> {
        self.0.generation(Records::Routers)
    }
}
