use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::*;
use crate::api::tests::sources;

/// Where the document is committed.
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/asyncapi.json");

fn value() -> Value {
    serde_json::to_value(document()).expect("json")
}

/// Returns every text of these fields, and where it stands.
fn texts(value: &Value, fields: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                match inner {
                    Value::String(text) if fields.contains(&name.as_str()) => found.push(text.clone()),
                    inner => found.extend(texts(inner, fields)),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| found.extend(texts(inner, fields))),
        _ => {}
    }
    found
}

#[test]
fn the_committed_document_is_the_one_that_is_served() {
    let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
    let text = document_text().expect("json") + "\n";
    assert!(committed == text, "run `cargo run -- asyncapi > docs/asyncapi.json` and commit it");
}

#[test]
fn references_lead_somewhere() {
    let document = value();
    let found = texts(&document, &["$ref"]);
    assert!(found.len() > 100, "{}", found.len());
    for reference in found {
        let place = reference.strip_prefix('#').expect("within the document");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
}

/// Readers of the document have no contract to look a section up in.
#[test]
fn no_text_of_the_document_cites_the_contract() {
    let found = texts(&value(), &["description", "summary", "title"]);
    let cites = |text: &&String| text.to_lowercase().contains("spec ") || text.contains("ruling");
    assert_eq!(found.iter().filter(cites).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_schema_is_used_and_can_be_checked() {
    let document = value();
    let used: BTreeSet<String> = texts(&document, &["$ref"]).into_iter().collect();
    for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
        let reference = format!("#/components/schemas/{name}");
        assert!(used.contains(&reference), "{name}");
        let whole = serde_json::json!({ "$ref": reference, "components": document["components"] });
        jsonschema::options().build(&whole).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn every_event_is_one_operation() {
    let document = value();
    let operations = document["operations"].as_object().expect("operations");
    let of = |socket: &str, action: &str| -> BTreeSet<String> {
        let here = format!("#/channels/{socket}");
        let found = operations.values().filter(|operation| {
            operation["action"] == action && operation["channel"]["$ref"] == here.as_str()
        });
        let name = |operation: &Value| {
            let message = operation["messages"][0]["$ref"].as_str().expect("a message");
            let message = document.pointer(&message[1..]).expect("there");
            message["name"].as_str().expect("a name").to_owned()
        };
        found.map(name).collect()
    };
    let set = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let webchat = ["connect", "message", "message_interactive", "message_media", "read", "start", "typing"];
    assert_eq!(of("webchat", "receive"), set(&webchat));
    assert_eq!(of("webchat", "send"), set(&["auth_ok", "auth_error", "message", "session", "typing"]));
    let names = of("desk", "receive").len() + of("desk", "send").len();
    let all = of("webchat", "receive").len() + of("webchat", "send").len() + names;
    assert_eq!(operations.len(), all, "two events have one key");
    for desk in ["agent:reply", "connect", "monitoring:join"] {
        assert!(of("desk", "receive").contains(desk), "{desk}");
    }
    for desk in ["ticket:assigned", "ticket:window_expired", "monitoring:snapshot"] {
        assert!(of("desk", "send").contains(desk), "{desk}");
    }
}

/// The document is made of the names that the sockets know, so an event of another name would be missing in it.
#[test]
fn sockets_emit_no_event_by_its_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = ["desk", "webchat"].into_iter().flat_map(|name| sources(&folder.join(name)));
    let mut emits = 0;
    for (path, text) in sources {
        for (at, _) in text.match_indices("emit") {
            let call = text[at..].split_once(')').map_or("", |(call, _)| call);
            let is_name = |one: char| one.is_alphanumeric() || "_:<>, ".contains(one);
            let Some((name, arguments)) = call.split_once('(') else { continue };
            if name.chars().all(is_name) {
                emits += 1;
                assert!(!arguments.contains('"'), "{path}: {call}");
            }
        }
    }
    assert!(emits >= 8, "{emits}");
}
