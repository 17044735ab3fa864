//! Storage of routers, as they are administered.

use async_trait::async_trait;

use super::Router;
use crate::fault::StorageError;
use crate::id::RouterId;

/// Routers of one transaction.
#[async_trait]
pub trait RouterCatalog: Send {
    /// Returns a router, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &RouterId) -> Result<Option<Router>, StorageError>;

    /// Returns whether a router has this name.
    async fn has_name(&mut self, name: &str) -> Result<bool, StorageError>;

    /// Rewrites the settings of a router.
    async fn save(&mut self, router: &Router) -> Result<(), StorageError>;

    /// Deletes a router with everything that belongs to it, its variables among it. Its chats stay, closed and
    /// without a router.
    async fn delete(&mut self, id: &RouterId) -> Result<(), StorageError>;
}

/// A transaction with the administration of routers.
pub trait HasRouterCatalog: Send {
    /// Returns the repository of this transaction.
    fn router_catalog(&mut self) -> &mut dyn RouterCatalog;
}
