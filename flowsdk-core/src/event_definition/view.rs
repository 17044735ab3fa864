//! Definitions and names with the counts of their events.

use serde::Serialize;

use super::{EventDefinition, EventDefinitionId, EventProperty};
use crate::flow::EventName;
use crate::id::RouterId;
use crate::schema::SchemaAttributes;
use crate::time::{IsoTime, Timestamp};

/// Most events of a name that are counted: a page of 200 names reads 2 million entries of an index at most.
pub const MOST_COUNTED: u32 = 10_000;

/// How often an event was tracked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Occurrences {
    counted: u32,
    last_seen_at: Option<Timestamp>,
}

impl Occurrences {
    /// Returns the occurrences of an event of which `counted` were found; behind [`MOST_COUNTED`] nobody counts on.
    pub fn new(counted: u32, last_seen_at: Option<Timestamp>) -> Self {
        Self { counted, last_seen_at }
    }

    /// Returns the number of events, at most [`MOST_COUNTED`].
    pub fn count(self) -> u32 {
        self.counted.min(MOST_COUNTED)
    }

    /// Returns whether there are no more events than [`Self::count`].
    pub fn is_exact(self) -> bool {
        self.counted <= MOST_COUNTED
    }

    /// Returns when the event was last tracked.
    pub fn last_seen_at(self) -> Option<Timestamp> {
        self.last_seen_at
    }
}

/// A definition with the count of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CountedDefinition {
    pub definition: EventDefinition,
    pub occurrences: Occurrences,
}

/// The definition of the tracked events of a name, with their count.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = EventDefinition)]
pub struct EventDefinitionView {
    /// The id of the definition.
    pub id: EventDefinitionId,
    /// The router whose flows track the event. It never changes.
    pub router_id: RouterId,
    /// The name of the event; unique in its router.
    pub name: EventName,
    /// Its meaning.
    #[schema(required = true)]
    pub description: Option<String>,
    /// The properties that its events have.
    pub properties: Vec<EventProperty>,
    /// The events of this name that the router has tracked; at most 10,000 are counted.
    #[schema(example = 42)]
    pub count: u32,
    /// Whether `count` is all of them: false where there are more than 10,000.
    pub count_is_exact: bool,
    /// When the last one was tracked.
    #[schema(required = true)]
    pub last_seen_at: Option<IsoTime>,
    /// When the definition was created.
    pub created_at: IsoTime,
    /// When the definition was last changed.
    pub updated_at: IsoTime,
}

impl From<CountedDefinition> for EventDefinitionView {
    fn from(CountedDefinition { definition, occurrences }: CountedDefinition) -> Self {
        Self {
            id: definition.id,
            router_id: definition.router_id,
            name: definition.name,
            description: definition.description,
            properties: definition.properties,
            count: occurrences.count(),
            count_is_exact: occurrences.is_exact(),
            last_seen_at: occurrences.last_seen_at().map(IsoTime),
            created_at: definition.created_at.into(),
            updated_at: definition.updated_at.into(),
        }
    }
}

/// A name under which a router has tracked events, and that has no definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UndefinedEvent {
    /// The name.
    #[schema(example = "plan_chosen")]
    pub name: String,
    /// The events of this name that the router has tracked; at most 10,000 are counted.
    #[schema(example = 42)]
    pub count: u32,
    /// Whether `count` is all of them: false where there are more than 10,000.
    pub count_is_exact: bool,
    /// When the last one was tracked.
    #[schema(required = true)]
    pub last_seen_at: Option<IsoTime>,
}

impl UndefinedEvent {
    pub(super) fn new(name: String, occurrences: Occurrences) -> Self {
        Self {
            name,
            count: occurrences.count(),
            count_is_exact: occurrences.is_exact(),
            last_seen_at: occurrences.last_seen_at().map(IsoTime),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_ends_where_nobody_counts_on() {
        for (counted, count, is_exact) in [
            (0, 0, true),
            (7, 7, true),
            (MOST_COUNTED, MOST_COUNTED, true),
            (MOST_COUNTED + 1, MOST_COUNTED, false),
        ] {
            let occurrences = Occurrences::new(counted, None);
            assert_eq!((occurrences.count(), occurrences.is_exact()), (count, is_exact), "{counted}");
        }
    }
}
