//! Tests of parsing and validation.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::flow::definition::{FlowDefinition, Severity};

fn demo() -> Value {
    serde_json::from_str(include_str!("../../../../tests/fixtures/demo_flow.json")).expect("is JSON")
}

/// `code pointer` of every problem, warnings with a `?`.
fn problems(definition: &Value) -> Vec<String> {
    let found = match FlowDefinition::parse(definition) {
        Ok(definition) => definition.validate(),
        Err(problems) => problems,
    };
    found
        .iter()
        .map(|problem| {
            let mark = if problem.severity == Severity::Warning {
                "?"
            } else {
                ""
            };
            format!("{}{mark} {}", problem.code, problem.pointer)
        })
        .collect()
}

/// The problems of the demo with `value` at `pointer`.
fn with(pointer: &str, value: Value) -> Vec<String> {
    let mut definition = demo();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let parent = definition.pointer_mut(parent).expect("is there");
    match parent {
        Value::Array(items) => items[field.parse::<usize>().expect("an index")] = value,
        parent => parent[field] = value,
    }
    problems(&definition)
}

fn block(extra: &Value) -> Value {
    let mut block = json!({ "id": "extra", "type": "content", "defaultOutput": { "end": true } });
    block
        .as_object_mut()
        .expect("an object")
        .extend(extra.as_object().expect("an object").clone());
    block
}

/// The problems of a flow of one block with `extra`.
fn of_block(extra: &Value) -> Vec<String> {
    problems(&json!({ "schemaVersion": 1, "startBlockId": "extra", "blocks": [block(extra)] }))
}

#[test]
fn the_demo_is_flawless_and_survives_a_round_trip() {
    assert_eq!(problems(&demo()), [""; 0]);
    let definition = FlowDefinition::parse(&demo()).expect("parses");
    let json = serde_json::to_value(&definition).expect("serialises");
    assert_eq!(FlowDefinition::parse(&json).expect("parses again"), definition);
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (pointer, value, expected) in [
        ("/schemaVersion", json!(2), "schema_version /schemaVersion"),
        ("/startBlockId", json!("a b"), "malformed "),
        ("/colour", json!("red"), "malformed "),
        ("/settings/colour", json!("red"), "malformed /settings"),
        ("/settings/inputTimeoutMs", json!(-1), "malformed /settings"),
        ("/blocks/1", json!(7), "malformed /blocks/1"),
        ("/blocks/1/colour", json!("red"), "malformed /blocks/1"),
        (
            "/blocks/1/type",
            json!("agent"),
            "unsupported_block_type /blocks/1/type",
        ),
        (
            "/blocks/1/type",
            json!("human"),
            "unsupported_block_type /blocks/1/type",
        ),
        (
            "/blocks/1/type",
            json!("flow"),
            "unsupported_block_type /blocks/1/type",
        ),
        (
            "/blocks/0/onEnter/0/type",
            json!("httpRequest"),
            "unsupported_action_type /blocks/0/onEnter/0/type",
        ),
        (
            "/blocks/1/onLeave/0/type",
            json!("addTags"),
            "unsupported_action_type /blocks/1/onLeave/0/type",
        ),
        (
            "/blocks/0/onEnter/0/colour",
            json!("red"),
            "malformed /blocks/0/onEnter/0",
        ),
        (
            "/blocks/0/contents/0/type",
            json!("carousel"),
            "malformed /blocks/0/contents/0",
        ),
        (
            "/blocks/0/input/validation/kind",
            json!("magic"),
            "malformed /blocks/0/input",
        ),
        (
            "/blocks/0/input/validation/minLength",
            json!(2),
            "malformed /blocks/0/input",
        ),
        (
            "/blocks/0/outputConditions/0/conditions/0/comparator",
            json!("like"),
            "malformed /blocks/0/outputConditions/0",
        ),
        (
            "/blocks/0/defaultOutput",
            json!({ "blockId": "bye", "end": true }),
            "malformed /blocks/0/defaultOutput",
        ),
        (
            "/blocks/0/defaultOutput",
            json!({}),
            "malformed /blocks/0/defaultOutput",
        ),
    ] {
        assert_eq!(with(pointer, value.clone()), [expected], "{pointer} = {value}");
    }
    let mut several = demo();
    several["blocks"][1]["type"] = json!("agent");
    several["blocks"][3]["contents"][0] = json!({});
    let found = FlowDefinition::parse(&several).expect_err("is refused");
    assert_eq!(found.len(), 2);
    assert!(found[0].message.contains("`agent`"), "{}", found[0].message);
    assert_eq!(found[0].block_id.as_ref().map(|id| id.as_str()), Some("sales"));
}

#[test]
fn graphs_are_checked() {
    for (pointer, value, expected) in [
        ("/startBlockId", json!("gone"), "start_not_found /startBlockId"),
        (
            "/settings/errorTarget",
            json!({ "blockId": "gone" }),
            "target_not_found /settings/errorTarget/blockId",
        ),
        (
            "/blocks/0/input/timeoutTarget",
            json!({ "blockId": "gone" }),
            "target_not_found /blocks/0/input/timeoutTarget/blockId",
        ),
        (
            "/blocks/0/input/validation/failTarget",
            json!({ "blockId": "x" }),
            "target_not_found /blocks/0/input/validation/failTarget/blockId",
        ),
        (
            "/blocks/1/outputConditions/0/target",
            json!({ "blockId": "x" }),
            "target_not_found /blocks/1/outputConditions/0/target/blockId",
        ),
        (
            "/blocks/2/defaultOutput",
            json!({ "blockId": "x" }),
            "target_not_found /blocks/2/defaultOutput/blockId",
        ),
        (
            "/blocks/0/outputConditions",
            json!([]),
            "unreachable_block? /blocks/1",
        ),
        (
            "/blocks/4/defaultOutput",
            json!({ "blockId": "sorry" }),
            "cycle_without_input /blocks/4",
        ),
        (
            "/blocks/4/defaultOutput",
            json!({ "blockId": "bye" }),
            "cycle_without_input /blocks/4",
        ),
    ] {
        assert_eq!(with(pointer, value.clone()), [expected], "{pointer} = {value}");
    }
    assert_eq!(
        with("/blocks/4/defaultOutput", json!({ "blockId": "welcome" })),
        [""; 0],
        "a cycle with input"
    );
    assert_eq!(
        with("/blocks/4/defaultOutput", json!({ "flowId": "other" })),
        [""; 0]
    );
    assert!(with("/blocks/4/id", json!("sorry")).contains(&"duplicate_block /blocks/4/id".to_owned()));
    let empty = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [] });
    assert_eq!(
        problems(&empty),
        ["no_blocks /blocks", "start_not_found /startBlockId"]
    );
}

#[test]
fn settings_and_inputs_stay_in_range() {
    for (pointer, value, code) in [
        ("/settings/maxStepsPerTurn", json!(0), "out_of_range"),
        ("/settings/maxStepsPerTurn", json!(1_000_000), "out_of_range"),
        ("/settings/inputTimeoutMs", json!(0), "out_of_range"),
        ("/blocks/0/input/timeoutMs", json!(0), "out_of_range"),
        ("/blocks/2/onEnter/0/millis", json!(60_001), "out_of_range"),
        ("/blocks/0/input/validation/options", json!([]), "no_options"),
        ("/blocks/0/input/variable", json!("a.b"), "bad_name"),
        ("/blocks/0/onEnter/0/key", json!(""), "bad_name"),
        ("/blocks/0/onEnter/0/key", json!("input"), "reserved_name?"),
        ("/blocks/1/onLeave/0/key", json!("name"), "reserved_name?"),
        (
            "/blocks/0/onEnter/0/value",
            json!("{{router.token}}"),
            "static_in_variable?",
        ),
    ] {
        let found = with(pointer, value.clone());
        assert_eq!(found[0], format!("{code} {pointer}"), "{pointer} = {value}");
    }
    for validation in [
        json!({ "kind": "text", "minLength": 3, "maxLength": 2 }),
        json!({ "kind": "number", "min": 3, "max": 2 }),
    ] {
        let found = of_block(&json!({ "input": { "validation": validation } }));
        assert_eq!(found, ["out_of_range /blocks/0/input/validation"], "{validation}");
    }
}

#[test]
fn conditions_are_checked() {
    let with = |condition: Value| {
        of_block(&json!({ "outputConditions": [{ "conditions": [condition], "target": { "end": true } }] }))
    };
    let at = "/blocks/0/outputConditions/0/conditions/0";
    let input = json!({ "type": "input" });
    assert_eq!(
        with(json!({ "source": input, "comparator": "equals" })),
        [format!("no_values {at}")]
    );
    assert_eq!(with(json!({ "source": input, "comparator": "exists" })), [""; 0]);
    let bad = json!({ "source": input, "comparator": "matches", "values": ["("] });
    assert_eq!(with(bad), [format!("bad_regex {at}/values/0")]);
    let token = json!({ "source": input, "comparator": "matches", "values": ["{{input}}"] });
    assert_eq!(with(token), [format!("bad_regex {at}/values/0")]);
    let unknown = json!({ "source": { "type": "context", "key": "colour.x" }, "comparator": "exists" });
    assert_eq!(with(unknown), [format!("unknown_variable? {at}/source/key")]);
    let empty = json!({ "outputConditions": [{ "id": "1", "conditions": [], "target": { "end": true } },
        { "id": "1", "conditions": [], "target": { "end": true } }] });
    assert_eq!(
        of_block(&empty),
        [
            "always_taken? /blocks/0/outputConditions/0",
            "duplicate_output /blocks/0/outputConditions/1/id",
            "always_taken? /blocks/0/outputConditions/1"
        ]
    );
}

#[test]
fn tokens_that_stay_empty_are_pointed_out() {
    for (text, expected) in [
        ("{{colour}}", Some("unknown_variable?")),
        ("{{colour.deep.0}}", Some("unknown_variable?")),
        ("{{input.colour}}", Some("unknown_token?")),
        ("{{system.later}}", Some("unknown_token?")),
        ("{{session.colour}}", Some("unknown_token?")),
        ("x{{}}", Some("unknown_token?")),
        (
            "{{ticket.exit.key}}{{handoffDeflect.reason}}{{lastInput}}{{session.source}}{{contact.any}}",
            None,
        ),
    ] {
        let found = of_block(&json!({ "contents": [{ "type": "text", "text": { "body": text } }] }));
        let expected: Vec<String> = expected
            .map(|code| format!("{code} /blocks/0/contents/0"))
            .into_iter()
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn messages_stay_within_the_limits_of_the_channel() {
    let button = |id: &str, title: &str| json!({ "type": "reply", "reply": { "id": id, "title": title } });
    let buttons = |buttons: Vec<Value>| {
        json!({ "type": "interactive", "interactive":
            { "type": "button", "body": { "text": "Pick" }, "action": { "buttons": buttons } } })
    };
    let row = |id: &str, title: &str| json!({ "id": id, "title": title });
    let list = |rows: Vec<Value>| {
        json!({ "type": "interactive", "interactive": { "type": "list", "body": { "text": "Pick" },
            "action": { "button": "Open", "sections": [{ "rows": rows }] } } })
    };
    let many = |count: usize| {
        (0..count)
            .map(|at| (format!("i{at}"), format!("t{at}")))
            .collect::<Vec<_>>()
    };
    let say = |body: String| json!({ "type": "text", "text": { "body": body } });
    let b = "/blocks/0/contents/0/interactive/action/buttons";
    let s = "/blocks/0/contents/0/interactive/action/sections";
    for (message, expected) in [
        (say("é".repeat(4096)), None),
        (
            say("é".repeat(4097)),
            Some("too_long /blocks/0/contents/0/text/body".to_owned()),
        ),
        (say("a".repeat(4096) + "{{input}}"), None),
        (
            say(" ".into()),
            Some("empty_text /blocks/0/contents/0/text/body".into()),
        ),
        (
            buttons(many(3).iter().map(|(id, title)| button(id, title)).collect()),
            None,
        ),
        (
            buttons(many(4).iter().map(|(id, title)| button(id, title)).collect()),
            Some(format!("too_many_buttons {b}")),
        ),
        (buttons(vec![]), Some(format!("too_many_buttons {b}"))),
        (buttons(vec![button("a", &"t".repeat(20))]), None),
        (
            buttons(vec![button("a", &"t".repeat(21))]),
            Some(format!("too_long {b}/0/reply/title")),
        ),
        (
            buttons(vec![button("a", "")]),
            Some(format!("empty_text {b}/0/reply/title")),
        ),
        (
            buttons(vec![button("a", "x"), button("a", "y")]),
            Some(format!("duplicate_reply {b}/1/reply/id")),
        ),
        (
            buttons(vec![button("a", "x"), button("b", "x")]),
            Some(format!("duplicate_title {b}/1/reply/title")),
        ),
        (
            buttons(vec![button("", "x")]),
            Some(format!("bad_reply_id {b}/0/reply/id")),
        ),
        (
            list(many(10).iter().map(|(id, title)| row(id, title)).collect()),
            None,
        ),
        (
            list(many(11).iter().map(|(id, title)| row(id, title)).collect()),
            Some(format!("too_many_rows {s}")),
        ),
        (list(vec![]), Some(format!("too_many_rows {s}"))),
        (list(vec![row("a", &"t".repeat(24))]), None),
        (
            list(vec![row("a", &"t".repeat(25))]),
            Some(format!("too_long {s}/0/rows/0/title")),
        ),
        (
            list(vec![row("a", "x"), row("a", "y")]),
            Some(format!("duplicate_reply {s}/0/rows/1/id")),
        ),
        (
            json!({ "type": "image", "image": { "link": "ftp://x" } }),
            Some("bad_link /blocks/0/contents/0/image/link".into()),
        ),
        (
            json!({ "type": "document", "document": { "link": "{{input}}" } }),
            None,
        ),
    ] {
        let expected: Vec<String> = expected.into_iter().collect();
        assert_eq!(of_block(&json!({ "contents": [message] })), expected, "{message}");
    }
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
