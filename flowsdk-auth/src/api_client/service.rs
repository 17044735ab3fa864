//! The use cases of API clients (rulings H8).

use flowsdk_core::words::NameQuery;
use std::sync::Arc;

use flowsdk_core::change::{Change, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::ApiClientId;
use flowsdk_core::page::{NameSearch, Page, PageRequest};
use flowsdk_core::store::{Store, Transaction as _};
use secrecy::SecretString;

use super::{ApiClient, ApiClientChange, ApiClientError, HasApiClients, NewApiClient};
use crate::audit::AuditRecorder;
use crate::principal::Actor;
use crate::token::api_token;

/// Creates, shows, changes and deletes API clients, and gives them tokens.
#[derive(Debug)]
pub struct ApiClients<S> {
    store: Arc<S>,
    cx: OpContext,
    audit: AuditRecorder,
}

impl<S: Store> ApiClients<S>
where
    S::Tx: HasApiClients,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, audit: AuditRecorder) -> Self {
        Self { store, cx, audit }
    }

    /// Creates a client. Its token is shown this once: only its hash is stored. So there is no answer that
    /// could be repeated for an idempotency key.
    ///
    /// # Errors
    /// [`ApiClientError::Storage`].
    pub async fn create(
        &self,
        actor: &Actor,
        new: NewApiClient,
    ) -> Result<(ApiClient, SecretString), ApiClientError> {
        let (token, token_hash) = api_token::generate();
        let now = self.cx.now();
        let client = ApiClient {
            id: ApiClientId::generate(self.cx.ids()),
            name: new.name,
            token_hash,
            permissions: new.permissions,
            router_ids: new.router_ids,
            active: new.active,
            expires_at: new.expires_at.map(|at| at.0),
            last_used_at: None,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.store.begin().await?;
        tx.api_clients().insert(&client).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &client, &Change::Created(client.to_json()));
        Ok((client, token))
    }

    /// Returns a client.
    ///
    /// # Errors
    /// [`ApiClientError`].
    pub async fn get(&self, id: &ApiClientId) -> Result<ApiClient, ApiClientError> {
        self.store.read().await?.api_clients().find(id).await?.ok_or(ApiClientError::NotFound)
    }

    /// Returns a page of the clients whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`ApiClientError::Storage`].
    pub async fn list(
        &self,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<ApiClient>, ApiClientError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.api_clients().list(&request).await?);
        }
        Ok(search.into_page())
    }

    /// Changes a client, from its next request on.
    ///
    /// # Errors
    /// [`ApiClientError`].
    pub async fn change(
        &self,
        actor: &Actor,
        id: &ApiClientId,
        change: ApiClientChange,
    ) -> Result<ApiClient, ApiClientError> {
        let now = self.cx.now();
        self.update(actor, id, |client| change.apply(client, now)).await
    }

    /// Sets a new token for a client, which is shown this once; the old one is void at once.
    ///
    /// # Errors
    /// [`ApiClientError`].
    pub async fn rotate(
        &self,
        actor: &Actor,
        id: &ApiClientId,
    ) -> Result<(ApiClient, SecretString), ApiClientError> {
        let (token, token_hash) = api_token::generate();
        let updated_at = self.cx.now();
        let rotated = self.update(actor, id, |client| ApiClient { token_hash, updated_at, ..client });
        Ok((rotated.await?, token))
    }

    /// Deletes a client.
    ///
    /// # Errors
    /// [`ApiClientError`].
    pub async fn delete(&self, actor: &Actor, id: &ApiClientId) -> Result<(), ApiClientError> {
        let mut tx = self.store.begin().await?;
        let before = tx.api_clients().find_for_update(id).await?.ok_or(ApiClientError::NotFound)?;
        tx.api_clients().delete(id).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &before, &Change::Deleted(before.to_json()));
        Ok(())
    }

    async fn update(
        &self,
        actor: &Actor,
        id: &ApiClientId,
        change: impl FnOnce(ApiClient) -> ApiClient + Send,
    ) -> Result<ApiClient, ApiClientError> {
        let mut tx = self.store.begin().await?;
        let before = tx.api_clients().find_for_update(id).await?.ok_or(ApiClientError::NotFound)?;
        let after = change(before.clone());
        tx.api_clients().save(&after).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &after, &Change::updated(&before, &after));
        Ok(after)
    }
}
