use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// Where the document is committed.
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

/// Reads every Rust file under a folder: its path and text.
pub(super) fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a source")));
        }
    }
    found
}

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

/// Readers of the document have no contract to look a section up in.
#[test]
fn no_text_of_the_document_cites_the_contract() {
    fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                let told =
                    fields.iter().filter(|(name, _)| matches!(name.as_str(), "description" | "summary"));
                found.extend(told.filter_map(|(_, text)| text.as_str()));
                fields.values().for_each(|inner| texts(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| texts(inner, found)),
            _ => {}
        }
    }
    let document = value();
    let mut found = Vec::new();
    texts(&document, &mut found);
    let cites = |text: &&str| text.to_lowercase().contains("spec ") || text.contains("ruling");
    assert_eq!(found.into_iter().filter(cites).collect::<Vec<_>>(), [""; 0]);
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

/// Client generators make a type without fields of an object that names none.
#[test]
fn objects_that_name_no_fields_may_have_any() {
    fn walk(value: &Value, place: &str, found: &mut Vec<String>) {
        if let Value::Object(fields) = value {
            let is_object = [json!("object"), json!(["object", "null"])].contains(&value["type"]);
            let names = ["properties", "additionalProperties"].iter().any(|name| fields.contains_key(*name));
            if is_object && !names {
                found.push(place.to_owned());
            }
            for (name, inner) in fields {
                walk(inner, &format!("{place}/{name}"), found);
            }
        } else if let Value::Array(values) = value {
            values.iter().for_each(|inner| walk(inner, &format!("{place}/-"), found));
        }
    }
    let mut found = Vec::new();
    walk(&value()["components"]["schemas"], "", &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_body_has_a_schema_that_names_all_its_fields() {
    let document = value();
    for (name, operation) in operations(&document) {
        if operation["requestBody"].is_null() {
            continue;
        }
        if !operation["requestBody"]["content"]["application/octet-stream"].is_null() {
            // A file has no fields.
            continue;
        }
        let reference = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let schema = document.pointer(&reference.as_str().expect("a schema")[1..]).expect("there");
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        let whole = json!({ "$ref": reference, "components": document["components"] });
        jsonschema::options().build(&whole).expect("a schema that can be checked");
    }
}

/// Returns a schema without what differs between a new record and a change: words, defaults, and whether null is taken.
fn shape(schema: &Value) -> Value {
    let mut shape = schema.clone();
    if let Some([one, other]) = schema["oneOf"].as_array().map(Vec::as_slice) {
        shape = if one["type"] == "null" { other.clone() } else { one.clone() };
    }
    let Some(keywords) = shape.as_object_mut() else { return shape };
    for word in ["description", "example", "examples", "default"] {
        keywords.remove(word);
    }
    let kinds = keywords.get("type").and_then(Value::as_array).cloned().unwrap_or_default();
    if let [kind, null] = &*kinds
        && null == "null"
    {
        keywords.insert("type".to_owned(), kind.clone());
    }
    shape
}

/// What records are made with and keep.
const FIXED: &[&str] = &[
    "/agent-groups: routerId",
    "/agents: routerId",
    "/agents: userId",
    "/ai-agent-routes: fromAgentId",
    "/ai-agent-routes: routerId",
    "/ai-agent-routes: toAgentId",
    "/ai-agents: routerId",
    "/ai/budgets: routerId",
    "/ai/prices: model",
    "/ai/prices: routerId",
    "/channel-numbers: phoneNumberId",
    "/channel-numbers: routerId",
    "/channel-type-mappings: channelType",
    "/channel-type-mappings: routerId",
    "/close-reasons: key",
    "/close-reasons: routerId",
    "/contact-filters: routerId",
    "/contacts: contactVariables",
    "/contacts: origin",
    "/contacts: phoneNumber",
    "/contacts: routerId",
    "/event-definitions: routerId",
    "/flows: kind",
    "/flows: routerId",
    "/flows/{id}/variables: key",
    "/guardrails: agentId",
    "/guardrails: routerId",
    "/integrations: kind",
    "/integrations: routerId",
    "/interactive-forms: routerId",
    "/knowledge-documents: address",
    "/knowledge-documents: mediaType",
    "/knowledge-documents: routerId",
    "/knowledge-documents: text",
    "/queue-distribution-rules: routerId",
    "/queues: routerId",
    "/quick-replies: routerId",
    "/routers/{id}/variables: key",
    "/system-prompts: agentId",
    "/system-prompts: routerId",
    "/tags: routerId",
    "/templates: businessAccountId",
    "/templates: language",
    "/templates: name",
    "/templates: routerId",
    "/webchat/channels: isTestChannel",
    "/webchat/channels: routerId",
    "/webhooks: routerId",
];

#[test]
fn a_record_is_changed_in_the_shapes_that_it_is_made_with() {
    let document = value();
    let fields = |operation: &Value| {
        let reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()?;
        document.pointer(&reference[1..])?["properties"].as_object()
    };
    let paths = document["paths"].as_object().expect("paths");
    let (mut compared, mut fixed) = (0, Vec::new());
    for (collection, records) in paths {
        let Some(new) = fields(&records["post"]) else { continue };
        let of_one = |path: &str| {
            let rest = path.strip_prefix(collection.as_str());
            rest.is_some_and(|rest| rest.starts_with("/{") && rest.ends_with('}') && !rest[1..].contains('/'))
        };
        for (path, record) in paths.iter().filter(|(path, _)| of_one(path)) {
            for method in ["patch", "put"] {
                let Some(change) = fields(&record[method]) else { continue };
                // A webhook is made to be sent to.
                let is_made = |name: &str| !["revision", "isPaused"].contains(&name);
                for (name, field) in change.iter().filter(|(name, _)| is_made(name)) {
                    let made = new.get(name).unwrap_or_else(|| panic!("{collection} takes no {name}"));
                    assert_eq!(shape(made), shape(field), "{method} {path}: {name}");
                    compared += 1;
                }
                let never = new.keys().filter(|name| !change.contains_key(*name));
                fixed.extend(never.map(|name| format!("{collection}: {name}")));
            }
        }
    }
    assert!(compared > 60, "{compared}");
    assert_eq!(fixed, FIXED, "what a change of a record does not take");
}
