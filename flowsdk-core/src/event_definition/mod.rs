//! Event definitions: the properties that the tracked events of a router have, by the names of the events. They
//! describe, and refuse nothing: an event is tracked whether or not it has a definition.

mod error;
mod model;
mod repository;
mod service;
mod view;

pub use error::EventDefinitionError;
pub use model::{
    EventDefinition, EventDefinitionChange, EventDefinitionId, EventProperty, NewEventDefinition,
    PropertyType,
};
pub use repository::{EventCountRepository, HasEventCounts, TrackedName};
pub use service::{EventDefinitions, NameRequest, UndefinedEvents};
pub use view::{CountedDefinition, EventDefinitionView, MOST_COUNTED, Occurrences, UndefinedEvent};
