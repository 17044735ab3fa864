//! The JSON Schema of a definition, kept by hand beside the types; the tests hold the two together.

use serde_json::Value;

/// Returns the JSON Schema (2020-12) of a definition, for editors and generators.
/// [`FlowDefinition::parse`](super::FlowDefinition::parse) reads every document that it accepts; it cannot express
/// the further findings of validation.
pub fn json_schema() -> Value {
    serde_json::from_str(include_str!("schema.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::FlowDefinition;
    use crate::flow::definition::BlockKind;
    use crate::flow::definition::action::ACTION_TYPES;
    use crate::flow::definition::block::BLOCK_TYPES;
    use crate::message::{ContentKind, ContentMessage};

    /// As much of JSON Schema as the schema uses.
    fn fits(schema: &Value, root: &Value, value: &Value) -> bool {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let found = root.pointer(reference.trim_start_matches('#')).expect("a definition");
            return fits(found, root, value);
        }
        let of = |key: &str| schema.get(key).and_then(Value::as_array);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        if let Some(variants) = of("oneOf") {
            return variants.iter().filter(|variant| fits(variant, root, value)).count() == 1;
        }
        if let Some(variants) = of("anyOf") {
            return variants.iter().any(|variant| fits(variant, root, value));
        }
        if schema.get("const").is_some_and(|only| only != value)
            || of("enum").is_some_and(|known| !known.contains(value))
        {
            return false;
        }
        let is = |name: &str| match name {
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("type {other}"),
        };
        match schema.get("type") {
            Some(Value::String(name)) if !is(name) => return false,
            Some(Value::Array(names)) if !names.iter().filter_map(Value::as_str).any(is) => return false,
            _ => {}
        }
        match value {
            Value::String(text) => {
                let length = text.chars().count() as u64;
                let pattern = schema.get("pattern").and_then(Value::as_str);
                count("minLength").is_none_or(|least| length >= least)
                    && count("maxLength").is_none_or(|most| length <= most)
                    && pattern
                        .is_none_or(|pattern| regex::Regex::new(pattern).expect("compiles").is_match(text))
            }
            Value::Number(number) => {
                let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
                let number = number.as_f64().expect("a number");
                limit("minimum").is_none_or(|least| number >= least)
                    && limit("maximum").is_none_or(|most| number <= most)
            }
            Value::Array(items) => {
                count("minItems").is_none_or(|least| items.len() as u64 >= least)
                    && count("maxItems").is_none_or(|most| items.len() as u64 <= most)
                    && schema
                        .get("items")
                        .is_none_or(|schema| items.iter().all(|item| fits(schema, root, item)))
            }
            Value::Object(fields) => {
                let known = schema.get("properties").and_then(Value::as_object);
                let others = schema.get("additionalProperties");
                of("required").is_none_or(|names| {
                    names.iter().filter_map(Value::as_str).all(|name| fields.contains_key(name))
                }) && fields.iter().all(|(name, field)| {
                    match (known.and_then(|known| known.get(name)), others) {
                        (Some(schema), _) => fits(schema, root, field),
                        (None, Some(Value::Bool(false))) => false,
                        (None, Some(schema @ Value::Object(_))) => fits(schema, root, field),
                        (None, _) => true,
                    }
                })
            }
            _ => true,
        }
    }

    fn definitions() -> Vec<Value> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/flows");
        let files = std::fs::read_dir(folder).expect("the examples").map(|file| file.expect("a file").path());
        let mut found: Vec<Value> = files
            .filter(|path| !path.to_string_lossy().ends_with(".test.json"))
            .map(|path| serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON"))
            .collect();
        found.push(
            serde_json::from_str(include_str!("../../../tests/fixtures/demo_flow.json")).expect("JSON"),
        );
        found
    }

    #[test]
    fn what_can_be_read_fits_and_what_was_read_fits_too() {
        let schema = json_schema();
        for definition in definitions() {
            let parsed = FlowDefinition::parse(&definition).expect("parses");
            let written = serde_json::to_value(&parsed).expect("serialises");
            for json in [definition, written] {
                for block in json["blocks"].as_array().expect("a list") {
                    assert!(fits(&schema["$defs"]["block"], &schema, block), "{block:#}");
                }
                assert!(fits(&schema, &schema, &json), "{json:#}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_cannot_be_read() {
        let schema = json_schema();
        let definition = &definitions().pop().expect("the demo");
        for (pointer, wrong) in [
            ("/schemaVersion", json!(2)),
            ("/blocks/0/type", json!("robot")),
            ("/blocks/0/defaultOutput", json!({ "blockId": "a", "end": true })),
            ("/blocks/0/onEnter/0/type", json!("sing")),
            ("/blocks/0/outputConditions/0/conditions/0/comparator", json!("like")),
            ("/blocks/0/input/validation/kind", json!("magic")),
            ("/settings", json!({ "colour": 1 })),
            ("/blocks/0/contents/0/type", json!("order")),
        ] {
            let mut changed = definition.clone();
            *changed.pointer_mut(pointer).expect(pointer) = wrong;
            assert!(!fits(&schema, &schema, &changed), "{pointer}");
            assert!(FlowDefinition::parse(&changed).is_err(), "{pointer}");
        }
    }

    #[test]
    fn every_kind_of_content_is_in_it() {
        let interactive = |kind: &str, header: Value, action: Value| {
            json!({ "type": "interactive", "interactive": { "type": kind, "header": header, "body": { "text": "?" },
                "footer": { "text": "!" }, "action": action } })
        };
        let file = json!({ "link": "https://a.example/a" });
        let header = |kind: &str| json!({ "type": kind, kind: file });
        let contents = json!([
            { "type": "text", "text": { "body": "Oi" } },
            interactive("button", header("image"), json!({ "buttons": [
                { "type": "reply", "reply": { "id": "a", "title": "A" } }] })),
            interactive("list", json!({ "type": "text", "text": "T" }), json!({ "button": "Ver", "sections": [
                { "title": "S", "rows": [{ "id": "a", "title": "A", "description": "D" }] }] })),
            interactive("cta_url", header("video"), json!({ "name": "cta_url", "parameters": {
                "display_text": "Ver", "url": "https://a.example" } })),
            interactive("flow", header("document"), json!({ "name": "flow", "parameters": { "flow_id": "7",
                "flow_cta": "Abrir", "mode": "draft", "flow_action": "navigate",
                "flow_action_payload": { "screen": "A", "data": { "name": "{{system.now}}" } } } })),
            { "type": "image", "image": file }, { "type": "audio", "audio": file },
            { "type": "video", "video": file }, { "type": "document", "document": file },
            { "type": "sticker", "sticker": file },
            { "type": "location", "location": { "latitude": -23.5, "longitude": -46.6, "name": "Loja", "address": "Rua" } },
            { "type": "contacts", "contacts": [{ "name": { "formatted_name": "Ana", "first_name": "Ana" },
                "phones": [{ "phone": "+55 11 98765-4321", "type": "WORK", "wa_id": "5511987654321" }],
                "emails": [{ "email": "a@a.example", "type": "WORK" }], "urls": [{ "url": "https://a.example" }],
                "addresses": [{ "city": "São Paulo", "country_code": "br" }], "org": { "company": "Loja" },
                "birthday": "2012-08-18" }] },
            { "type": "reaction", "reaction": { "message_id": "wamid.1", "emoji": "👍" } },
            { "type": "igQuickReply", "igQuickReply": { "body": "?", "quickReplies": [{ "title": "A", "payload": "a" }] } },
            { "type": "igCarousel", "igCarousel": { "elements": [{ "title": "A", "subtitle": "B",
                "imageUrl": "https://a.example/a.png", "buttons": [{ "title": "A", "payload": "a" },
                    { "title": "B", "url": "https://a.example" }] }] } },
        ]);
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "end": true }, "contents": contents }] });
        let schema = json_schema();
        let parsed = FlowDefinition::parse(&definition).expect("parses");
        for json in [&definition, &serde_json::to_value(&parsed).expect("serialises")] {
            assert!(fits(&schema, &schema, json), "{json:#}");
        }
        assert_eq!(parsed.unread(&definition), [], "nothing of it is left out");
        assert_eq!(parsed.validate(), [], "nothing of it is wrong");
        let mut kinds: Vec<ContentKind> = match &parsed.blocks[0].kind {
            BlockKind::Content { contents, .. } => {
                contents.iter().map(ContentMessage::content_kind).collect()
            }
            _ => Vec::new(),
        };
        // A dispatch alone sends templates.
        kinds.push(ContentKind::Template);
        assert!(ContentKind::ALL.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    }

    #[test]
    fn every_type_of_block_and_action_is_in_it() {
        let schema = json_schema();
        let types = |name: &str| -> Vec<String> {
            let variants = schema["$defs"][name]["oneOf"].as_array().expect("variants");
            variants
                .iter()
                .map(|variant| variant["properties"]["type"]["const"].as_str().expect("a name").to_owned())
                .collect()
        };
        let sorted = |names: &[&str]| {
            let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            names.sort();
            names
        };
        let in_schema = |name: &str| {
            let mut names = types(name);
            names.sort();
            names
        };
        assert_eq!(in_schema("block"), sorted(&BLOCK_TYPES));
        assert_eq!(in_schema("action"), sorted(&ACTION_TYPES));
    }
}
