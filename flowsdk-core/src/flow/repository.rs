//! Storage of flows and their versions.

use async_trait::async_trait;

use super::{Flow, FlowVersion};
use crate::fault::StorageError;
use crate::id::{FlowId, FlowVersionId};

/// Flows of one transaction.
#[async_trait]
pub trait FlowRepository: Send {
    /// Creates a flow without versions.
    async fn insert(&mut self, flow: &Flow) -> Result<(), StorageError>;

    /// Stores a version and makes it the published one of its flow.
    async fn publish(&mut self, version: &FlowVersion) -> Result<(), StorageError>;

    /// Returns a flow, if it exists.
    async fn find(&mut self, id: &FlowId) -> Result<Option<Flow>, StorageError> {
        Ok(self.find_many(std::slice::from_ref(id)).await?.pop())
    }

    /// Returns the flows among `ids` that exist.
    async fn find_many(&mut self, ids: &[FlowId]) -> Result<Vec<Flow>, StorageError>;

    /// Returns the versions among `ids` that exist.
    async fn find_versions(&mut self, ids: &[FlowVersionId]) -> Result<Vec<FlowVersion>, StorageError>;
}

/// A transaction with published flows.
pub trait HasFlows: Send {
    /// Returns the repository of this transaction.
    fn flows(&mut self) -> &mut dyn FlowRepository;
}
