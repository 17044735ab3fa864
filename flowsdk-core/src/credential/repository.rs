//! Storage of credentials.

use async_trait::async_trait;

use super::LlmCredential;
use crate::fault::StorageError;
use crate::id::LlmCredentialId;
use crate::page::{Page, PageRequest};

/// Credentials of one transaction. A transaction that locks one and a router locks the credential first.
#[async_trait]
pub trait LlmCredentialRepository: Send {
    /// Returns a page of credentials, newest first.
    async fn list(&mut self, page: &PageRequest) -> Result<Page<LlmCredential>, StorageError>;

    /// Returns a credential, its key encrypted.
    async fn find(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError>;

    /// Returns a credential, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &LlmCredentialId) -> Result<Option<LlmCredential>, StorageError>;

    /// Creates a credential with its encrypted key.
    async fn insert(&mut self, credential: &LlmCredential) -> Result<(), StorageError>;

    /// Rewrites a credential, its key included.
    async fn save(&mut self, credential: &LlmCredential) -> Result<(), StorageError>;

    /// Deletes a credential that no router names.
    async fn delete(&mut self, id: &LlmCredentialId) -> Result<(), StorageError>;
}

/// A transaction with credentials of model providers.
pub trait HasLlmCredentials: Send {
    /// Returns the repository of this transaction.
    fn llm_credentials(&mut self) -> &mut dyn LlmCredentialRepository;
}
