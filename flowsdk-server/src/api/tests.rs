use std::collections::HashSet;

use serde_json::{Value, json};

use super::*;

/// Where the document is committed.
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

fn value() -> Value {
    serde_json::to_value(document()).expect("json")
}

fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths.flat_map(|(path, item)| {
        let named = move |(method, operation)| (format!("{method} {path}"), operation);
        item.as_object().expect("operations").iter().map(named)
    })
}

#[test]
fn the_committed_document_is_the_one_that_is_served() {
    let committed = std::fs::read_to_string(COMMITTED).expect("docs/openapi.json");
    let text = document_text().expect("json") + "\n";
    assert!(committed == text, "run `cargo run -- openapi > docs/openapi.json` and commit it");
}

#[test]
fn every_operation_says_who_may_call_it_and_what_it_is() {
    let document = value();
    let tags: Vec<_> = document["tags"].as_array().expect("tags").iter().map(|tag| &tag["name"]).collect();
    let mut ids = HashSet::new();
    for (name, operation) in operations(&document) {
        let permission = operation["x-permission"].as_str().expect("x-permission");
        let open = operation["security"].as_array().expect("security").is_empty();
        // A refresh shows a token, though not one that names the principal.
        assert_eq!(permission == "public", open || name == "get /auth/refresh", "{name}");
        assert!(ids.insert(operation["operationId"].clone()), "{name} has an id of its own");
        assert!(operation["summary"].is_string(), "{name}");
        assert!(tags.contains(&&operation["tags"][0]), "{name}");
        let parameters = operation["parameters"]
            .as_array()
            .map_or(0, |list| list.iter().filter(|one| one["in"] == "path").count());
        assert_eq!(parameters, name.matches('{').count(), "{name} explains its path");
        for status in operation["responses"].as_object().expect("responses").keys() {
            assert!(matches!(status.as_bytes()[0], b'2' | b'4' | b'5'), "{name}");
        }
    }
}

#[test]
fn references_lead_somewhere() {
    fn walk<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| walk(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| walk(value, found)),
            _ => {}
        }
    }
    let (document, mut found) = (value(), Vec::new());
    walk(&document, &mut found);
    assert!(found.len() > 100);
    for reference in found {
        let place = reference.strip_prefix('#').expect("within the document");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
}

#[test]
fn every_body_has_a_schema_that_names_all_its_fields() {
    let document = value();
    for (name, operation) in operations(&document) {
        if operation["requestBody"].is_null() {
            continue;
        }
        let reference = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let schema = document.pointer(&reference.as_str().expect("a schema")[1..]).expect("there");
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        let whole = json!({ "$ref": reference, "components": document["components"] });
        jsonschema::options().build(&whole).expect("a schema that can be checked");
    }
}
