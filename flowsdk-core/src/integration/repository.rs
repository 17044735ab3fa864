//! Storage of integrations.

use async_trait::async_trait;

use super::Integration;
use crate::fault::StorageError;
use crate::id::{IntegrationId, RouterId};
use crate::page::{Page, PageRequest};

/// Integrations of one transaction.
#[async_trait]
pub trait IntegrationRepository: Send {
    /// Returns a page of integrations, newest first: of `router`, if it is given, and of the routers in `only`, if
    /// they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Integration>, StorageError>;

    /// Returns an integration, its credentials encrypted.
    async fn find(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError>;

    /// Returns an integration, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &IntegrationId) -> Result<Option<Integration>, StorageError>;

    /// Creates an integration of a router.
    async fn insert(&mut self, integration: &Integration) -> Result<(), StorageError>;

    /// Rewrites an integration; its router and its kind stay.
    async fn save(&mut self, integration: &Integration) -> Result<(), StorageError>;

    /// Deletes an integration and its credentials.
    async fn delete(&mut self, id: &IntegrationId) -> Result<(), StorageError>;
}

/// A transaction with integrations.
pub trait HasIntegrations: Send {
    /// Returns the repository of this transaction.
    fn integrations(&mut self) -> &mut dyn IntegrationRepository;
}
