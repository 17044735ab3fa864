//! Storage of API clients.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ApiClientId;
use flowsdk_core::page::{Page, PageRequest};

use super::ApiClient;

/// API clients of one transaction.
#[async_trait]
pub trait ApiClientRepository: Send {
    /// Returns the client with this id.
    async fn find(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError>;

    /// The same, locked until the transaction ends.
    async fn find_for_update(&mut self, id: &ApiClientId) -> Result<Option<ApiClient>, StorageError>;

    /// Returns a page of clients, newest first.
    async fn list(&mut self, page: &PageRequest) -> Result<Page<ApiClient>, StorageError>;

    /// Creates a client with the hash of its token.
    async fn insert(&mut self, client: &ApiClient) -> Result<(), StorageError>;

    /// Writes everything of a client but its id, `createdAt` and `lastUsedAt`.
    async fn save(&mut self, client: &ApiClient) -> Result<(), StorageError>;

    /// Deletes a client; whether it existed.
    async fn delete(&mut self, id: &ApiClientId) -> Result<bool, StorageError>;
}

/// A transaction with API clients.
pub trait HasApiClients: Send {
    /// Returns the repository of this transaction.
    fn api_clients(&mut self) -> &mut dyn ApiClientRepository;
}
