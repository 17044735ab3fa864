//! Definitions and inputs that mean harm.

use std::time::Instant;

use serde_json::{Value, json};

use super::stage::*;

/// A chain of `count` blocks, each with a text, an input and a condition.
fn chain(count: usize) -> Value {
    let mut blocks: Vec<Value> = (0..count)
        .map(|at| {
            json!({ "id": format!("b{at}"), "type": "content", "contents": [text("Hi {{contact.name}} {{input}}")],
                "input": { "variable": format!("v{at}") },
                "outputConditions": [{ "conditions": [{ "source": { "type": "input" }, "comparator": "equals",
                    "values": ["a", "b"] }], "target": { "blockId": format!("b{}", at + 1) } }],
                "defaultOutput": { "blockId": format!("b{}", at + 1) } })
        })
        .collect();
    blocks.push(json!({ "id": format!("b{count}"), "type": "content", "defaultOutput": { "end": true } }));
    flow_of(&blocks)
}

#[test]
fn ten_thousand_blocks_take_ten_times_as_long_as_a_thousand() {
    let fastest = |count: usize| {
        let definition = chain(count);
        let times = (0..3).map(|_| {
            let began = Instant::now();
            let flow = compile_as("big", &definition).expect("compiles");
            assert!(flow.has_block(&format!("b{}", count - 1).parse().expect("id")));
            began.elapsed()
        });
        times.min().expect("a time")
    };
    let (small, large) = (fastest(1_000), fastest(10_000));
    // Linear is 10, quadratic 100. The fastest of three, because other work on the machine only ever slows.
    assert!(large < small * 40, "{small:?}, {large:?}");
}

#[test]
fn a_long_chain_without_input_needs_no_stack() {
    let mut blocks: Vec<Value> = (0..10_000)
        .map(|at| json!({ "id": format!("b{at}"), "type": "content", "defaultOutput": { "blockId": format!("b{}", at + 1) } }))
        .collect();
    blocks.push(json!({ "id": "b10000", "type": "content", "defaultOutput": { "end": true } }));
    let mut stage = Stage::new(&flow_of(&blocks));
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_loop"));
}

#[test]
fn catastrophic_expressions_are_linear() {
    for pattern in ["(a+)+$", "(a|a)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"] {
        let definition = flow_of(&[json!({ "id": "a", "type": "content",
            "input": { "validation": { "kind": "regex", "pattern": pattern } },
            "outputConditions": [{ "conditions": [{ "source": { "type": "input" }, "comparator": "matches",
                "values": [pattern] }], "target": { "end": true } }],
            "defaultOutput": { "end": true } })]);
        let mut stage = Stage::new(&definition);
        stage.start("oi");
        let began = Instant::now();
        stage.say(&("a".repeat(50_000) + "!"));
        stage.say(&("x".repeat(50_000) + "!"));
        assert!(began.elapsed().as_secs() < 5, "{pattern}: {:?}", began.elapsed());
    }
}

#[test]
fn expressions_that_are_too_big_are_refused() {
    for pattern in
        ["(", "a)", "(?x) a # (", "a{1000}{1000}", &"(".repeat(200), "\\p{L}{5000}", "(?=a)", "(a)\\1"]
    {
        let problems = compile_as("f", &flow_of(&[json!({ "id": "a", "type": "content",
            "input": { "validation": { "kind": "regex", "pattern": pattern } }, "defaultOutput": { "end": true } })]))
        .expect_err("is refused");
        assert_eq!(problems[0].code, "bad_regex", "{pattern}");
        assert_eq!(problems[0].pointer, "/blocks/0/input/validation/pattern");
    }
}

#[test]
fn an_expression_in_verbose_mode_is_closed_properly() {
    let result = compile_as(
        "f",
        &flow_of(&[json!({ "id": "a", "type": "content",
        "input": { "validation": { "kind": "regex", "pattern": "(?x) a # note" } }, "defaultOutput": { "end": true } })]),
    );
    assert!(result.is_err_and(|problems| problems[0].code == "bad_regex"));
}

#[test]
fn deep_paths_and_long_inputs_are_harmless() {
    let path = "a.".repeat(20_000);
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "a", "type": "content",
        "contents": [text(&format!("<{{{{{path}x}}}}{{{{contact.{path}x}}}}{{{{session.{path}x}}}}>"))],
        "input": { "variable": "v" },
        "outputConditions": [{ "conditions": [{ "source": { "type": "context", "key": path }, "comparator": "exists" }],
            "target": { "end": true } }],
        "defaultOutput": { "blockId": "b" } }),
        json!({ "id": "b", "type": "content", "contents": [text("{{v}}{{v}}")], "defaultOutput": { "end": true } }),
    ]));
    assert_eq!(stage.start("oi"), ["<>"]);
    let said = stage.say(&"é".repeat(30_000));
    assert!(said[0].len() <= crate::flow::interpolate::MAX_RENDERED);
}

#[test]
fn a_turn_cannot_double_a_variable_for_ever() {
    let mut blocks: Vec<Value> = (0..90)
        .map(|at| {
            json!({ "id": format!("b{at}"), "type": "content",
            "onEnter": [{ "type": "setVariable", "key": "x", "value": "{{x}}{{x}}{{input}}" }],
            "defaultOutput": { "blockId": format!("b{}", at + 1) } })
        })
        .collect();
    blocks.push(json!({ "id": "b90", "type": "content", "defaultOutput": { "end": true } }));
    let mut stage = Stage::new(&flow_of(&blocks));
    stage.start("y");
    assert_eq!(stage.frozen(), Some("turn_too_large"));
}

#[test]
fn values_of_a_megabyte_are_cut_and_cost_no_more_than_their_length() {
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "a", "type": "content", "input": { "variable": "v" }, "defaultOutput": { "blockId": "b" } }),
        json!({ "id": "b", "type": "content",
            "onEnter": [{ "type": "setContactVariable", "key": "big", "value": "{{big}}", "continueOnError": true }],
            "contents": [text("{{v}}"), text("{{big}}"), text("{{contact.big}}"), text("{{session.variables}}")],
            "defaultOutput": { "end": true } }),
    ]));
    stage.start("oi");
    stage.session.variables.insert("big".into(), json!("{{v}}".repeat(200_000)));
    let began = Instant::now();
    stage.contact.variables.insert("big".into(), json!("{{v}}".repeat(200_000)));
    // The session is larger than a flow could make it, so the answer takes the place of one of its length.
    for key in ["v", "lastInput"] {
        stage.session.variables.insert(key.into(), json!("y".repeat(60_000)));
    }
    let said = stage.say(&"x".repeat(60_000));
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    assert_eq!(said.len(), 4);
    assert!(said.iter().all(|text| text.len() <= crate::flow::interpolate::MAX_RENDERED));
    assert!(
        said[1].starts_with("{{v}}{{v}}") && said[2].starts_with("{{v}}{{v}}"),
        "a value is never looked at again"
    );
}
