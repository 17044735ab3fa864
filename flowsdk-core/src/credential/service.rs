//! The use cases of credentials.

use crate::words::NameQuery;
use std::sync::Arc;

use super::{
    HasLlmCredentials, LlmCredential, LlmCredentialChange, LlmCredentialError as Error, NewLlmCredential,
};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::id::LlmCredentialId;
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::in_use::{Dependants, HasReferences, Referred};
use crate::page::{NameSearch, Page, PageRequest};
use crate::store::{Store, Transaction as _};

/// Creates, shows, changes and deletes credentials of model providers.
#[derive(Debug)]
pub struct LlmCredentials<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> LlmCredentials<S>
where
    S::Tx: HasLlmCredentials + HasReferences + HasIdempotency,
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

    /// Returns a page of the credentials whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<LlmCredential>, Error> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.llm_credentials().list(&request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a credential.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, id: &LlmCredentialId) -> Result<LlmCredential, Error> {
        self.store.read().await?.llm_credentials().find(id).await?.ok_or(Error::NotFound)
    }

    /// Creates a credential, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: NewLlmCredential,
        once: Option<Once<LlmCredential>>,
    ) -> Result<Outcome<LlmCredential>, Error> {
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let credential = LlmCredential {
                id: LlmCredentialId::generate(self.cx.ids()),
                name: new.name.into(),
                provider: new.provider,
                base_url: new.base_url,
                api_key: None,
                created_at: self.cx.now(),
                updated_at: self.cx.now(),
            };
            let key = LlmCredentialChange { api_key: Some(new.api_key), ..LlmCredentialChange::default() };
            let credential = key.apply(credential, &self.master_key);
            if !credential.has_its_address() {
                return Err(Error::Address);
            }
            tx.llm_credentials().insert(&credential).await?;
            Ok(credential)
        })
        .await?;
        Ok(outcome.inspect(|credential| self.changes.created(author, credential)))
    }

    /// Changes a credential. Another address without a new key forgets the old one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Address`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        id: &LlmCredentialId,
        change: LlmCredentialChange,
    ) -> Result<LlmCredential, Error> {
        let mut tx = self.store.begin().await?;
        let before = tx.llm_credentials().find_for_update(id).await?.ok_or(Error::NotFound)?;
        let changed = change.apply(before.clone(), &self.master_key);
        let after = LlmCredential { updated_at: self.cx.now(), ..changed };
        if !after.has_its_address() {
            return Err(Error::Address);
        }
        tx.llm_credentials().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a credential. Routers and AI agents that name it stand in the way; with `force` they are left without one
    /// (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, id: &LlmCredentialId, force: bool) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = tx.llm_credentials().find_for_update(id).await?.ok_or(Error::NotFound)?;
        if force {
            tx.references().detach(Referred::LlmCredential(id)).await?;
        } else {
            let mut dependants = Dependants::default();
            dependants.references(&tx.references().referrers(Referred::LlmCredential(id)).await?);
            dependants.must_be_none().map_err(Error::InUse)?;
        }
        tx.llm_credentials().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}
