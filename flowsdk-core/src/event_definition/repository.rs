//! Storage of event definitions.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{EventDefinition, EventDefinitionId, Occurrences};
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::page::{Page, PageRequest};

/// A name under which a router has tracked events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedName {
    /// The name.
    pub name: String,
    /// Whether it has a definition.
    pub is_defined: bool,
}

/// Event definitions of one transaction. They are deleted with their router.
#[async_trait]
pub trait EventDefinitionRepository: Send {
    /// Returns a page of definitions, newest first: those of `router`, if it is given, and of the routers in `only`,
    /// if they are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<EventDefinition>, StorageError>;

    /// Returns a definition.
    async fn find(&mut self, id: &EventDefinitionId) -> Result<Option<EventDefinition>, StorageError>;

    /// Returns a definition, locked until the end of the transaction.
    async fn find_for_update(
        &mut self,
        id: &EventDefinitionId,
    ) -> Result<Option<EventDefinition>, StorageError>;

    /// Creates a definition.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when its router has one of its name.
    async fn insert(&mut self, definition: &EventDefinition) -> Result<(), StorageError>;

    /// Rewrites a definition.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when its router has another one of its name.
    async fn save(&mut self, definition: &EventDefinition) -> Result<(), StorageError>;

    /// Deletes a definition.
    async fn delete(&mut self, id: &EventDefinitionId) -> Result<(), StorageError>;

    /// Counts the events of each of these definitions, up to [`MOST_COUNTED`](super::MOST_COUNTED).
    async fn occurrences(
        &mut self,
        ids: &[EventDefinitionId],
    ) -> Result<HashMap<EventDefinitionId, Occurrences>, StorageError>;

    /// Counts the events of a router by these names, up to [`MOST_COUNTED`](super::MOST_COUNTED) each.
    async fn occurrences_of_names(
        &mut self,
        router: &RouterId,
        names: &[String],
    ) -> Result<HashMap<String, Occurrences>, StorageError>;

    /// Returns the names of the events of a router in the order of the database: those behind `after`, at most `limit`.
    async fn tracked_names(
        &mut self,
        router: &RouterId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<TrackedName>, StorageError>;
}

/// A transaction with event definitions.
pub trait HasEventDefinitions: Send {
    /// Returns the repository of this transaction.
    fn event_definitions(&mut self) -> &mut dyn EventDefinitionRepository;
}
