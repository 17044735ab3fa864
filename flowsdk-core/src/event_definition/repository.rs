//! The counts of tracked events.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{EventDefinitionId, Occurrences};
use crate::fault::StorageError;
use crate::id::RouterId;

/// A name under which a router has tracked events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedName {
    /// The name.
    pub name: String,
    /// Whether it has a definition.
    pub is_defined: bool,
}

/// The tracked events of one transaction, counted by their names.
#[async_trait]
pub trait EventCountRepository: Send {
    /// Counts the events of each of these definitions, up to [`MOST_COUNTED`](super::MOST_COUNTED).
    async fn of_definitions(
        &mut self,
        ids: &[EventDefinitionId],
    ) -> Result<HashMap<EventDefinitionId, Occurrences>, StorageError>;

    /// Counts the events of a router by these names, up to [`MOST_COUNTED`](super::MOST_COUNTED) each.
    async fn of_names(
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

/// A transaction with the counts of tracked events.
pub trait HasEventCounts: Send {
    /// Returns the repository of this transaction.
    fn event_counts(&mut self) -> &mut dyn EventCountRepository;
}
