//! The queries that requests share.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::loader::Load;
use flowsdk_core::store::{Records, Store};

use super::{ApiClientAccess, HasAccess, UserAccess};
use crate::api_client::TokenHash;

/// Users by their ids.
pub(super) struct UsersById<S>(pub(super) Arc<S>);

/// API clients by their tokens.
pub(super) struct ClientsByToken<S>(pub(super) Arc<S>);

#[async_trait]
impl<S: Store> Load<UserId, Arc<UserAccess>> for UsersById<S>
where
    S::Tx: HasAccess,
{
    async fn load(&self, keys: &[UserId]) -> Result<HashMap<UserId, Arc<UserAccess>>, StorageError> {
        let found = self.0.read().await?.access().users(keys).await?;
        Ok(found.into_iter().map(|user| (user.id.clone(), Arc::new(user))).collect())
    }

    fn generation(&self) -> Option<u64> {
        self.0.generation(Records::Access)
    }
}

#[async_trait]
impl<S: Store> Load<TokenHash, Arc<ApiClientAccess>> for ClientsByToken<S>
where
    S::Tx: HasAccess,
{
    async fn load(
        &self,
        keys: &[TokenHash],
    ) -> Result<HashMap<TokenHash, Arc<ApiClientAccess>>, StorageError> {
        let found = self.0.read().await?.access().api_clients(keys).await?;
        Ok(found.into_iter().map(|(hash, client)| (hash, Arc::new(client))).collect())
    }

    fn generation(&self) -> Option<u64> {
        self.0.generation(Records::Access)
    }
}
