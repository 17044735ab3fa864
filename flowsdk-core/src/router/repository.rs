//! Storage of routers.

use async_trait::async_trait;

use super::{Router, StaticVariable, VariableOwner};
use crate::fault::StorageError;
use crate::id::RouterId;

/// Routers of one transaction.
#[async_trait]
pub trait RouterRepository: Send {
    /// The routers among `ids` that exist.
    async fn find_many(&mut self, ids: &[RouterId]) -> Result<Vec<Router>, StorageError>;

    /// Creates a router.
    async fn insert(&mut self, router: &Router) -> Result<(), StorageError>;

    /// Sets the flow that a first message starts.
    async fn set_initial_flow(
        &mut self,
        id: &RouterId,
        flow: Option<&crate::id::FlowId>,
    ) -> Result<(), StorageError>;

    /// All static variables of these owners.
    async fn static_variables(
        &mut self,
        owners: &[VariableOwner],
    ) -> Result<Vec<StaticVariable>, StorageError>;
}
