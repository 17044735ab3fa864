//! Definitions that cannot be read.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{demo, with};
use crate::flow::FlowDefinition;

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (pointer, value, expected) in [
        ("/schemaVersion", json!(2), "schema_version /schemaVersion"),
        ("/startBlockId", json!("a b"), "malformed /startBlockId"),
        ("/colour", json!("red"), "malformed /colour"),
        ("/settings/colour", json!("red"), "malformed /settings/colour"),
        ("/settings/inputTimeoutMs", json!(-1), "malformed /settings/inputTimeoutMs"),
        ("/blocks/1", json!(7), "malformed /blocks/1"),
        ("/blocks/1/colour", json!("red"), "malformed /blocks/1/colour"),
        ("/blocks/0/onEnter", json!({}), "malformed /blocks/0/onEnter"),
        ("/blocks/0/contents", json!("oi"), "malformed /blocks/0/contents"),
        ("/blocks/0/input/timeoutMs", json!("1s"), "malformed /blocks/0/input/timeoutMs"),
        ("/blocks/1/type", json!("robot"), "unsupported_block_type /blocks/1/type"),
        ("/blocks/0/onEnter/0/type", json!("sing"), "unsupported_action_type /blocks/0/onEnter/0/type"),
        ("/blocks/1/onLeave/0/type", json!("addTags"), "malformed /blocks/1/onLeave/0"),
        ("/kind", json!("song"), "malformed /kind"),
        ("/parameters", json!([{ "name": "a" }]), "tool_only /parameters"),
        ("/blocks/0/onEnter/0/colour", json!("red"), "malformed /blocks/0/onEnter/0/colour"),
        ("/blocks/0/contents/0/text/body", json!(5), "malformed /blocks/0/contents/0/text/body"),
        ("/blocks/0/contents/0/type", json!("carousel"), "malformed /blocks/0/contents/0/type"),
        ("/blocks/0/input/validation/kind", json!("magic"), "malformed /blocks/0/input/validation/kind"),
        ("/blocks/0/input/validation/minLength", json!(2), "malformed /blocks/0/input/validation/minLength"),
        (
            "/blocks/0/outputConditions/0/conditions/0/comparator",
            json!("like"),
            "malformed /blocks/0/outputConditions/0/conditions/0/comparator",
        ),
        (
            "/blocks/0/defaultOutput",
            json!({ "blockId": "bye", "end": true }),
            "malformed /blocks/0/defaultOutput",
        ),
        ("/blocks/0/defaultOutput", json!({}), "malformed /blocks/0/defaultOutput"),
    ] {
        assert_eq!(with(pointer, value.clone()), [expected], "{pointer} = {value}");
    }
    let mut several = demo();
    several["blocks"][1]["type"] = json!("robot");
    several["blocks"][3]["contents"][0] = json!({});
    let found = FlowDefinition::parse(&several).expect_err("is refused");
    assert_eq!(found.len(), 2);
    assert!(found[0].message.english().contains("`robot`"), "{:?}", found[0].message);
    assert_eq!(found[0].block_id.as_ref().map(|id| id.as_str()), Some("sales"));
}

/// Every pointer into `value`.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                pointers(field, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_mangled_definition_is_refused_or_compiles(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
    ) {
        let mut definition = demo();
        for (place, value) in changes {
            let mut places = Vec::new();
            pointers(&definition, "", &mut places);
            let values = [
                json!(null), json!(true), json!(-1), json!(1e300), json!(""), json!("{{x}}"), json!("bye"), json!("("),
                json!([]), json!({}), json!({ "end": true }), json!({ "blockId": "sales" }), json!([{ "type": "delay" }]),
            ];
            if let Some(slot) = definition.pointer_mut(place.get(&places[..]).as_str()) {
                *slot = value.get(&values).clone();
            }
        }
        let compiled = crate::flow::engine::stage::compile_as("f", &definition);
        if let Err(found) = compiled {
            prop_assert!(!found.is_empty());
        }
    }
}
