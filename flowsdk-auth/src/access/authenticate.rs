//! Finds out who makes a request (spec A 5.2).

use std::fmt;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::loader::Loader;
use flowsdk_core::store::{Store, Transaction as _};

use super::last_used::LastUsed;
use super::lookup::{ClientsByToken, UsersById};
use super::{ApiClientAccess, AuthenticateError, Authenticated, HasAccess, UserAccess};
use crate::api_client::TokenHash;
use crate::principal::Principal;
use crate::token::{Tokens, api_token, bearer};

/// Lets users in by their access tokens and API clients by their static ones. Requests at the same time share
/// their queries; no answer is older than its request, so whoever loses a right has lost it with the commit.
pub struct Authenticator<S> {
    store: Arc<S>,
    cx: OpContext,
    tokens: Arc<Tokens>,
    users: Loader<UserId, Arc<UserAccess>>,
    clients: Loader<TokenHash, Arc<ApiClientAccess>>,
    last_used: LastUsed,
}

impl<S> fmt::Debug for Authenticator<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authenticator")
    }
}

impl<S: Store> Authenticator<S>
where
    S::Tx: HasAccess,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, tokens: Arc<Tokens>) -> Self {
        let users = Loader::new(UsersById(Arc::clone(&store)));
        let clients = Loader::new(ClientsByToken(Arc::clone(&store)));
        Self { store, cx, tokens, users, clients, last_used: LastUsed::default() }
    }

    /// Returns the principal of a request with this `Authorization` header.
    ///
    /// # Errors
    /// Any [`AuthenticateError`].
    pub async fn authenticate(
        &self,
        authorization: Option<&str>,
    ) -> Result<Authenticated, AuthenticateError> {
        let token = bearer(authorization).ok_or(AuthenticateError::Missing)?;
        if token.starts_with(api_token::PREFIX) {
            self.api_client(token).await
        } else {
            self.user(token).await
        }
    }

    /// Writes the gathered `lastUsedAt` of API clients in one statement: a tick, also for the end. Values that
    /// cannot be written wait for the next one.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn flush_last_used(&self) -> Result<(), StorageError> {
        let used = self.last_used.take();
        if used.is_empty() {
            return Ok(());
        }
        let written = async {
            let mut tx = self.store.begin().await?;
            tx.access().touch_api_clients(&used).await?;
            tx.commit().await
        };
        let written = written.await;
        if written.is_err() {
            self.last_used.put_back(used);
        }
        written
    }

    async fn api_client(&self, token: &str) -> Result<Authenticated, AuthenticateError> {
        let found = self.clients.get(api_token::hash(token)).await.map_err(AuthenticateError::Storage)?;
        let client = found.filter(|client| client.active).ok_or(AuthenticateError::ApiTokenInvalid)?;
        let now = self.cx.now();
        if client.expires_at.is_some_and(|end| end <= now) {
            return Err(AuthenticateError::ApiTokenExpired);
        }
        self.last_used.note(&client.id, client.last_used_at, now);
        Ok(Authenticated::from(&*client))
    }

    async fn user(&self, token: &str) -> Result<Authenticated, AuthenticateError> {
        let claims = self.tokens.verify_access(token, self.cx.now())?;
        let Principal::User { id, .. } = claims.principal else {
            return Err(AuthenticateError::PrincipalUnknown);
        };
        let found = self.users.get(id).await.map_err(AuthenticateError::Storage)?;
        let user = found.ok_or(AuthenticateError::PrincipalUnknown)?;
        if user.logged_out_at.is_some_and(|instant| claims.issued_at.is_before(instant)) {
            return Err(AuthenticateError::SessionEnded);
        }
        Ok(Authenticated::from(&*user))
    }
}
