//! Tests of parsing and validation.

mod blocks;
mod messages;
mod parsing;

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
            let mark = if problem.severity == Severity::Warning { "?" } else { "" };
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
    block.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
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
        ("/blocks/0/outputConditions", json!([]), "unreachable_block? /blocks/1"),
        ("/blocks/4/defaultOutput", json!({ "blockId": "sorry" }), "cycle_without_input /blocks/4"),
        ("/blocks/4/defaultOutput", json!({ "blockId": "bye" }), "cycle_without_input /blocks/4"),
    ] {
        assert_eq!(with(pointer, value.clone()), [expected], "{pointer} = {value}");
    }
    assert_eq!(
        with("/blocks/4/defaultOutput", json!({ "blockId": "welcome" })),
        [""; 0],
        "a cycle with input"
    );
    assert_eq!(with("/blocks/4/defaultOutput", json!({ "flowId": "other" })), [""; 0]);
    assert!(with("/blocks/4/id", json!("sorry")).contains(&"duplicate_block /blocks/4/id".to_owned()));
    let empty = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [] });
    assert_eq!(problems(&empty), ["no_blocks /blocks", "start_not_found /startBlockId"]);
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
        ("/blocks/0/onEnter/0/value", json!("{{router.token}}"), "static_in_variable?"),
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
    assert_eq!(with(json!({ "source": input, "comparator": "equals" })), [format!("no_values {at}")]);
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
fn expressions_are_limited_together() {
    let outputs = |patterns: &[String]| {
        let outputs: Vec<Value> = patterns
            .iter()
            .map(|pattern| {
                json!({ "conditions": [{ "source": { "type": "input" }, "comparator": "matches", "values": [pattern] }],
                    "target": { "end": true } })
            })
            .collect();
        of_block(&json!({ "outputConditions": outputs }))
    };
    let large = |count: usize| -> Vec<String> {
        (0..count).map(|n| format!("(?:[ab]{{0,60}}a){{30}}c{n}")).collect()
    };
    let found = outputs(&large(200));
    let [problem] = &found[..] else { panic!("{found:?}") };
    assert!(problem.starts_with("patterns_too_large /blocks/0/outputConditions/"), "{problem}");
    assert_eq!(outputs(&large(30)), [""; 0]);
    let same = vec!["(?:[ab]{0,60}a){30}c".to_owned(); 5_000];
    assert_eq!(outputs(&same), [""; 0], "one that is repeated is compiled once");
    let small: Vec<String> = (0..1_001).map(|n| n.to_string()).collect();
    assert_eq!(outputs(&small), ["patterns_too_large /blocks/0/outputConditions/1000/conditions/0/values/0"]);
    assert_eq!(outputs(&small[..1_000]), [""; 0]);
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
        ("{{session.currentBlock.title}}", Some("unknown_token?")),
        ("{{session.previousBlock.name.x}}", Some("unknown_token?")),
        ("{{session.mode.x}}", Some("unknown_token?")),
        ("{{session.sessionHistory.last}}", Some("unknown_token?")),
        ("{{session.sessionHistory.0.block.title}}", Some("unknown_token?")),
        ("{{session.redirectHistory.0.flow}}", Some("unknown_token?")),
        ("{{session.currentBlock}}{{session.currentFlow.id}}{{session.previousBlock.name}}", None),
        (
            "{{session.sessionHistory}}{{session.sessionHistory.0.flow}}{{session.sessionHistory.0.block.name}}",
            None,
        ),
        ("{{session.redirectHistory.19.blockId}}{{session.variables.any.deep.0}}", None),
        ("{{ticket.exit.key}}{{handoffDeflect.reason}}{{lastInput}}{{session.source}}{{contact.any}}", None),
    ] {
        let found = of_block(&json!({ "contents": [{ "type": "text", "text": { "body": text } }] }));
        let expected: Vec<String> =
            expected.map(|code| format!("{code} /blocks/0/contents/0")).into_iter().collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_script_may_set_any_variable() {
    for (action, expected) in [
        (json!({ "type": "executeScript", "script": "({ total: 1 })" }), &[] as &[&str]),
        (
            json!({ "type": "executeScript", "script": "1", "variable": "other" }),
            &["unknown_variable? /blocks/0/contents/0"],
        ),
    ] {
        let text = json!({ "type": "text", "text": { "body": "{{total}}" } });
        let found = of_block(&json!({ "onEnter": [action], "contents": [text] }));
        let found: Vec<_> = found.iter().filter(|problem| problem.starts_with("unknown_variable")).collect();
        assert_eq!(found, expected, "{action}");
    }
}

#[test]
fn a_warning_names_its_token() {
    for (text, name) in [
        ("{{ input.colour }}", "`input.colour`"),
        ("{{system.later}}", "`system.later`"),
        ("{{contact.name.first}}", "`contact.name.first`"),
        ("{{session.currentBlock.title}}", "`session.currentBlock.title`"),
        ("{{}}", "`{{}}`"),
        ("{{a{{input}}b}}", "`a{{…}}b`"),
    ] {
        let block = block(&json!({ "contents": [{ "type": "text", "text": { "body": text } }] }));
        let flow = json!({ "schemaVersion": 1, "startBlockId": "extra", "blocks": [block] });
        let found = FlowDefinition::parse(&flow).expect("parses").validate();
        let [problem] = &found[..] else { panic!("{text}: {found:?}") };
        assert_eq!(problem.code, "unknown_token");
        for words in [problem.message.english(), problem.message.portuguese()] {
            assert!(words.contains(name), "{words}");
        }
    }
}

#[test]
fn a_choice_that_the_options_leave_out_is_pointed_out() {
    let button = |id: &str, title: &str| json!({ "type": "reply", "reply": { "id": id, "title": title } });
    let pick = |options: &[&str], buttons: &[Value]| {
        of_block(&json!({
            "contents": [
                { "type": "text", "text": { "body": "Size?" } },
                { "type": "interactive", "interactive": { "type": "button", "body": { "text": "Pick" },
                    "action": { "buttons": buttons } } },
            ],
            "input": { "variable": "size", "validation": { "kind": "options", "options": options } },
        }))
    };
    let warned = ["never_accepted? /blocks/0/contents/1"];
    let (small, large) = (button("s", "Small"), button("l", "Large"));
    assert_eq!(pick(&["small"], &[small.clone(), large.clone()]), warned);
    // The id or the title is enough, and the engine compares without case and accents.
    assert_eq!(pick(&["SMÁLL", "l"], &[small.clone(), large]), [""; 0]);
    // The value of a token is known in a turn only.
    assert_eq!(pick(&["s"], &[small, button("x", "{{input}}")]), [""; 0]);
}

#[test]
fn a_way_that_is_never_taken_is_pointed_out() {
    let with = |validation: Value| of_block(&json!({ "input": { "validation": validation } }));
    let end = json!({ "end": true });
    let never = with(json!({ "kind": "email", "failTarget": end }));
    assert_eq!(never, ["never_taken? /blocks/0/input/validation/failTarget"]);
    assert_eq!(with(json!({ "kind": "email", "failTarget": end, "maxRetries": 0 })), [""; 0]);
    assert_eq!(with(json!({ "kind": "email" })), [""; 0]);
}
