//! The schemas of flow definitions, taken from the JSON Schema that the engine publishes.

use flowsdk_core::flow::definition::json_schema;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{OpenApi, RefOr};

/// The component that bodies with a definition name, and the parts of the JSON Schema as components.
const WHOLE: &str = "FlowDefinition";
const DRAFT: &str = "FlowDraft";

/// Puts the schema of definitions in the place of the components that accept any object.
pub(in crate::api) fn describe_definitions(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    if components.schemas.contains_key(DRAFT) {
        components.schemas.extend(components_of(json_schema()));
    }
}

fn components_of(mut whole: Value) -> Vec<(String, RefOr<Schema>)> {
    let parts = whole.as_object_mut().and_then(|schema| {
        schema.remove("$schema");
        schema.remove("$defs")
    });
    let parts = parts.and_then(|parts| parts.as_object().cloned()).unwrap_or_default();
    let draft = json!({
        "description": "A definition that may have any error: only a published one may not.",
        "anyOf": [{ "$ref": reference(WHOLE) }, { "type": "object", "additionalProperties": true }]
    });
    let named = parts.into_iter().map(|(name, part)| (component(&name), part));
    let all = named.chain([(WHOLE.to_owned(), whole), (DRAFT.to_owned(), draft)]);
    all.map(|(name, part)| (name, read(adapted(part)))).collect()
}

/// Reads a schema; one that the document's types cannot hold accepts anything, which a test would find.
fn read(schema: Value) -> RefOr<Schema> {
    serde_json::from_value(schema).unwrap_or_else(|error| {
        tracing::error!(%error, "a schema of definitions is missing in the document");
        RefOr::T(Schema::default())
    })
}

/// Returns a schema with the references of the document, and in words that the document's types know: a list of one value
/// for each constant, and a type for everything.
fn adapted(schema: Value) -> Value {
    match schema {
        Value::Object(fields) if fields.is_empty() => {
            json!({ "type": ["string", "number", "boolean", "object", "array", "null"] })
        }
        Value::Object(fields) => {
            let mut made = Map::new();
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("$ref", Value::String(to)) => {
                        made.insert(name, reference(&component(to.trim_start_matches("#/$defs/"))).into());
                    }
                    ("const", only) => {
                        made.insert("enum".to_owned(), json!([only]));
                    }
                    ("properties", Value::Object(properties)) => {
                        let each = properties.into_iter().map(|(name, schema)| (name, adapted(schema)));
                        made.insert(name, each.collect());
                    }
                    (_, value) => {
                        made.insert(name, adapted(value));
                    }
                }
            }
            if let Some(Value::Array(values)) = made.get("enum") {
                let kind = values.first().map_or("string", kind_of);
                made.entry("type").or_insert(kind.into());
            }
            Value::Object(made)
        }
        Value::Array(items) => items.into_iter().map(adapted).collect(),
        other => other,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        _ => "integer",
    }
}

/// `block` as `FlowBlock`.
fn component(part: &str) -> String {
    if part.starts_with('#') {
        return part.to_owned();
    }
    let mut letters = part.chars();
    letters
        .next()
        .map(|first| format!("Flow{}{}", first.to_uppercase(), letters.as_str()))
        .unwrap_or_default()
}

fn reference(component: &str) -> String {
    let name = component.trim_start_matches("#/components/schemas/");
    format!("#/components/schemas/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the fields of a schema at which two schemas differ.
    fn differences(ours: &Value, document: &Value, place: &str, found: &mut Vec<String>) {
        match (ours, document) {
            (Value::Object(ours), Value::Object(theirs)) => {
                for name in ours.keys().chain(theirs.keys()) {
                    let at = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
                    differences(&at(ours), &at(theirs), &format!("{place}/{name}"), found);
                }
            }
            (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
                let pairs = ours.iter().zip(theirs).enumerate();
                pairs.for_each(|(at, (one, other))| differences(one, other, &format!("{place}/{at}"), found));
            }
            (ours, theirs) if ours == theirs => {}
            _ => found.push(place.to_owned()),
        }
    }

    #[test]
    fn nothing_of_the_schema_is_lost() {
        let parts = json_schema()["$defs"].as_object().expect("parts").clone();
        let components = components_of(json_schema());
        assert_eq!(components.len(), parts.len() + 2);
        let mut found = Vec::new();
        for (name, part) in parts {
            let wanted = component(&name);
            let (_, made) = components.iter().find(|(name, _)| *name == wanted).expect("a component");
            let made = serde_json::to_value(made).expect("json");
            differences(&adapted(part), &made, &wanted, &mut found);
        }
        assert_eq!(found, [""; 0]);
    }
}
