//! The definition of an event.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::EventDefinitionError;
use crate::cell::Named;
use crate::flow::EventName;
use crate::id::{Id, IdSource, RouterId};
use crate::patch::present;
use crate::record::{NewRecord, RecordChange, RouterRecord};
use crate::router::{Reach, Reachable};
use crate::schema::SchemaAttributes;
use crate::text::Text;
use crate::time::{Timestamp, as_iso};

/// Identifier of an event definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct EventDefinitionId(Arc<str>);

/// The type of the values of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(schema = "EventPropertyType")]
pub enum PropertyType {
    /// A text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A date, or a date with a time, as a text in ISO 8601.
    Date,
}

/// A property that tracked events of the name have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventProperty {
    /// Its key in `properties` of `trackEvent`.
    #[schema(min_length = 1, max_length = 128, pattern = r"\S", example = "plan")]
    pub key: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub kind: PropertyType,
    /// Its meaning.
    #[serde(default)]
    #[schema(max_length = 1_000, example = "The plan that the customer chose")]
    pub description: Option<String>,
    /// Whether every event of the name is expected to have it.
    #[serde(default)]
    #[schema(required = false)]
    pub required: bool,
}

/// The definition of the tracked events of a name. It has no secret, and is what a log of changes keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord)]
#[router_record(kind = EventDefinition, error = EventDefinitionError, search = name, unique = NameTaken)]
#[serde(rename_all = "camelCase")]
pub struct EventDefinition {
    /// The id of the definition.
    pub id: EventDefinitionId,
    /// The router whose flows track the event. It never changes.
    pub router_id: RouterId,
    /// The name of the event; unique in its router.
    pub name: EventName,
    /// Its meaning.
    pub description: Option<String>,
    /// The properties that its events have.
    pub properties: Vec<EventProperty>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    pub updated_at: Timestamp,
}

/// A new event definition.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateEventDefinition)]
pub struct NewEventDefinition {
    /// The router whose flows track the event. It cannot be changed later.
    pub router_id: RouterId,
    /// The name of the event, as `trackEvent` has it; unique in its router.
    pub name: EventName,
    /// Its meaning.
    #[schema(max_length = 1_000)]
    pub description: Option<String>,
    /// The properties that its events have.
    #[serde(default)]
    #[schema(required = false, max_items = 100)]
    pub properties: Vec<EventProperty>,
}

impl Reachable for NewEventDefinition {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewEventDefinition {
    type Record = EventDefinition;

    fn check(&self) -> Result<(), EventDefinitionError> {
        check(&self.properties)
    }

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> EventDefinition {
        EventDefinition {
            id: EventDefinitionId::generate(ids),
            router_id: self.router_id,
            name: self.name,
            description: self.description,
            properties: self.properties,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to an event definition; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchEventDefinition)]
pub struct EventDefinitionChange {
    /// The new name. Events that were tracked keep theirs.
    #[schema(value_type = EventName, required = false)]
    pub name: Option<EventName>,
    /// Its meaning.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 1_000)]
    pub description: Option<Option<String>>,
    /// All of its properties.
    #[schema(value_type = Vec<EventProperty>, required = false, max_items = 100)]
    pub properties: Option<Vec<EventProperty>>,
}

impl RecordChange for EventDefinitionChange {
    type Record = EventDefinition;

    fn check(&self) -> Result<(), EventDefinitionError> {
        self.properties.as_deref().map_or(Ok(()), check)
    }

    fn apply(self, definition: EventDefinition) -> EventDefinition {
        EventDefinition {
            name: self.name.unwrap_or(definition.name),
            description: self.description.unwrap_or(definition.description),
            properties: self.properties.unwrap_or(definition.properties),
            ..definition
        }
    }
}

fn check(properties: &[EventProperty]) -> Result<(), EventDefinitionError> {
    let findings = repeated(properties);
    if findings.is_empty() { Ok(()) } else { Err(EventDefinitionError::Invalid(findings)) }
}

/// Returns each property whose key stands before it already: its field and the reason.
fn repeated(properties: &[EventProperty]) -> Vec<(String, Text)> {
    let mut keys = BTreeSet::new();
    let again = properties.iter().enumerate().filter(|(_, property)| !keys.insert(property.key.as_str()));
    again.map(|(at, _)| (format!("properties[{at}].key"), Text::new("Repetido", "Repeated"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_once() {
        let property = |key: &str| EventProperty {
            key: key.to_owned(),
            kind: PropertyType::Date,
            description: None,
            required: true,
        };
        let of = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().map(|key| property(key)).collect();
            repeated(&keys).into_iter().map(|(field, _)| field).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [""; 0]);
        assert_eq!(of(&["a", "A", " a"]), [""; 0]);
        assert_eq!(of(&["a", "b", "a", "b", "c"]), ["properties[2].key", "properties[3].key"]);
    }
}
