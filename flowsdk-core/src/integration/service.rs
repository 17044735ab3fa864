//! The use cases of integrations.

use crate::words::NameQuery;
use std::sync::Arc;

use super::{HasIntegrations, Integration, IntegrationChange, IntegrationError as Error, NewIntegration};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::flow::HttpCaller;
use crate::id::IntegrationId;
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::page::{NameSearch, Page, PageRequest};
use crate::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown, router_gone};
use crate::store::{Store, Transaction as _};

/// Creates, shows, changes and deletes integrations, and asks their servers. An integration whose router is out of
/// the caller's reach is as good as none.
#[derive(Debug)]
pub struct Integrations<S> {
    pub(super) store: Arc<S>,
    cx: OpContext,
    pub(super) master_key: Arc<MasterKey>,
    pub(super) http: Arc<dyn HttpCaller>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Integrations<S>
where
    S::Tx: HasIntegrations + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that asks servers by `http`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        http: Arc<dyn HttpCaller>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, http, changes }
    }

    /// Returns a page of the integrations within reach whose names fit `query`, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Integration>, Error> {
        let (mut tx, router) = (self.store.read().await?, router.map(AdmittedRouter::id));
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.integrations().list(router, reach.routers(), &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns an integration.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &IntegrationId) -> Result<Integration, Error> {
        within(self.store.read().await?.integrations().find(id).await?, reach)
    }

    /// Creates an integration, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::HeaderName`], [`Error::NoColon`], [`Error::RouterUnknown`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewIntegration>,
        once: Option<Once<Integration>>,
    ) -> Result<Outcome<Integration>, Error> {
        let new = new.into_inner();
        if !new.settings.names_its_header() {
            return Err(Error::HeaderName);
        }
        if new.credentials.as_ref().is_some_and(|clear| !new.settings.can_show(clear)) {
            return Err(Error::NoColon);
        }
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<Integration, Error> {
                tx.routers().find(&new.router_id).await?.ok_or(RouterUnknown)?;
                let integration = Integration {
                    id: IntegrationId::generate(self.cx.ids()),
                    router_id: new.router_id,
                    name: new.name.into(),
                    kind: new.kind,
                    base_url: new.base_url,
                    credentials: None,
                    settings: new.settings,
                    created_at: self.cx.now(),
                    updated_at: self.cx.now(),
                };
                let credentials =
                    IntegrationChange { credentials: Some(new.credentials), ..Default::default() };
                let integration = credentials.apply(integration, &self.master_key);
                tx.integrations().insert(&integration).await.map_err(router_gone::<Error>)?;
                Ok(integration)
            })
            .await?;
        Ok(outcome.inspect(|integration| self.changes.created(author, integration)))
    }

    /// Changes an integration. Another address without new credentials forgets the old ones.
    ///
    /// # Errors
    /// [`Error::HeaderName`], [`Error::NoColon`], [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &IntegrationId,
        change: IntegrationChange,
    ) -> Result<Integration, Error> {
        if change.settings.as_ref().is_some_and(|settings| !settings.names_its_header()) {
            return Err(Error::HeaderName);
        }
        let mut tx = self.store.begin().await?;
        let before = within(tx.integrations().find_for_update(id).await?, reach)?;
        let sets = change.credentials.is_some() || change.settings.is_some();
        let changed = change.apply(before.clone(), &self.master_key);
        // One that was stored so before may be renamed all the same.
        if sets && let Some(credentials) = &changed.credentials {
            // Credentials that cannot be opened are reported when they are used.
            let clear = self.master_key.decrypt(credentials);
            if clear.is_ok_and(|clear| !changed.settings.can_show(&clear)) {
                return Err(Error::NoColon);
            }
        }
        let after = Integration { updated_at: self.cx.now(), ..changed };
        tx.integrations().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes an integration with its credentials.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &IntegrationId) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.integrations().find_for_update(id).await?, reach)?;
        tx.integrations().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

pub(super) fn within(found: Option<Integration>, reach: Reach<'_>) -> Result<Integration, Error> {
    found.filter(|integration| reach.contains(&integration.router_id)).ok_or(Error::NotFound)
}
