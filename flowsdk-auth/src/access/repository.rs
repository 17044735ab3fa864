//! Storage of the facts.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ApiClientId, UserId};
use flowsdk_core::time::Timestamp;

use super::{ApiClientAccess, UserAccess};
use crate::api_client::TokenHash;

/// Access of one transaction.
#[async_trait]
pub trait AccessRepository: Send {
    /// Returns those of these users that exist, each with the grant of their group.
    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<UserAccess>, StorageError>;

    /// Returns the API clients with these tokens.
    async fn api_clients(
        &mut self,
        hashes: &[TokenHash],
    ) -> Result<Vec<(TokenHash, ApiClientAccess)>, StorageError>;

    /// Notes when API clients were last used; an earlier moment than the stored one changes nothing.
    async fn touch_api_clients(&mut self, used: &[(ApiClientId, Timestamp)]) -> Result<(), StorageError>;
}

/// A transaction with the rights of principals, all that tokens and permissions need of a store.
pub trait HasAccess: Send {
    /// Returns the repository of this transaction.
    fn access(&mut self) -> &mut dyn AccessRepository;
}
