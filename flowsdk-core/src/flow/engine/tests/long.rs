//! Turns that would take long: their work is counted.

use std::time::Instant;

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::FlowDefinition;

fn condition(comparator: &str, value: &str) -> Value {
    json!({ "source": { "type": "context", "key": "long" }, "comparator": comparator, "values": [value] })
}

/// A block with an output for each condition, none of which is taken.
fn judging(conditions: &[Value], target: &Value) -> Value {
    let outputs: Vec<Value> =
        conditions.iter().map(|one| json!({ "conditions": [one], "target": { "end": true } })).collect();
    flow_of(&[json!({ "id": "a", "type": "content", "outputConditions": outputs, "defaultOutput": target })])
}

fn plays(stage: &mut Stage, text: &str) -> (Option<String>, u128) {
    stage.session.variables.insert("long".into(), json!(text));
    let began = Instant::now();
    stage.start("oi");
    (stage.frozen().map(str::to_owned), began.elapsed().as_millis())
}

/// Expressions over 60 KB of text, and texts compared in a circle of two flows. A second is twenty times
/// the time that an optimised build takes on a slow machine; without the budget each takes seconds or minutes.
#[test]
fn what_would_take_long_freezes_soon() {
    let text = "ab".repeat(30_000);
    let end = json!({ "end": true });
    let many: Vec<Value> =
        (0..300).map(|n| condition("matches", &format!("[ab]*a[ab]{{400}}c{n}"))).collect();
    let nested: Vec<Value> =
        (0..10).map(|n| condition("matches", &format!("(?:[ab]{{0,60}}a){{30}}c{n}"))).collect();
    for (what, conditions) in [("counted", many), ("nested", nested)] {
        let mut stage = Stage::new(&judging(&conditions, &end));
        let (frozen, millis) = plays(&mut stage, &text);
        assert_eq!(frozen.as_deref(), Some("turn_too_long"), "{what}");
        assert!(millis < 5_000, "{what}: {millis} ms");
    }

    let contains: Vec<Value> = (0..100).map(|n| condition("contains", &format!("x{n}"))).collect();
    let mut one = judging(&contains, &json!({ "flowId": "flow2" }));
    one["settings"] = json!({ "maxStepsPerTurn": 1_000, "errorTarget": { "end": true } });
    let two = judging(&contains, &json!({ "flowId": "flow1" }));
    let mut stage = Stage::new(&one).with_flow("flow2", &two);
    let (frozen, millis) = plays(&mut stage, &text);
    assert_eq!(frozen.as_deref(), Some("turn_too_long"), "an errorTarget is no way out of it");
    assert!(millis < 5_000, "{millis} ms");
}

/// A version that was published before the limit for the expressions of a flow runs on, within it.
#[test]
fn a_version_with_too_many_expressions_runs_as_far_as_they_reach() {
    let patterns: Vec<Value> =
        (0..200).map(|n| condition("matches", &format!("(?:[ab]{{0,60}}a){{30}}c{n}"))).collect();
    let definition = judging(&patterns, &json!({ "end": true }));
    let problems = FlowDefinition::parse(&definition).expect("parses").validate();
    let errors: Vec<_> =
        problems.iter().filter(|problem| problem.is_error()).map(|problem| problem.code).collect();
    assert_eq!(errors, ["patterns_too_large"], "it is not published again");

    let mut stage = Stage::new(&definition);
    let flow = &stage.flows[&stage.start];
    assert!(flow.size() < 8 * 1024 * 1024, "{}", flow.size());
    assert_eq!(
        plays(&mut stage, "b").0.as_deref(),
        Some("turn_too_long"),
        "it asks for one beyond the limit"
    );
    stage.session = session();
    let mut definition = definition;
    definition["blocks"][0]["outputConditions"][0]["conditions"][0]["comparator"] = json!("exists");
    let mut stage = Stage::new(&definition);
    assert_eq!(plays(&mut stage, "b").0, None, "it asks for none");
}

/// The figures behind [`MAX_TURN_WORK`](crate::flow::MAX_TURN_WORK): `cargo test --release -p flowsdk-core --lib budget -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[allow(clippy::print_stderr, reason = "it measures")]
fn the_time_of_a_budget() {
    let text = "ab".repeat(30_000);
    let accents = "ação ".repeat(9_000);
    let here = json!({ "flowId": "flow1" });
    let measure = |what: &str, definition: &Value, text: &str| {
        let mut definition = definition.clone();
        definition["settings"] = json!({ "maxStepsPerTurn": 10_000 });
        let began = Instant::now();
        let mut stage = Stage::new(&definition);
        let compiled = began.elapsed().as_millis();
        let times = (0..5).map(|_| {
            stage.session = session();
            plays(&mut stage, text)
        });
        let fastest = times.min_by_key(|(_, millis)| *millis);
        eprintln!("{what}: compiled in {compiled} ms, {fastest:?}");
    };
    let many = |comparator: &str, value: &dyn Fn(usize) -> String, count: usize| -> Vec<Value> {
        (0..count).map(|n| condition(comparator, &value(n))).collect()
    };
    measure("counted", &judging(&many("matches", &|n| format!("[ab]*a[ab]{{400}}c{n}"), 300), &here), &text);
    measure(
        "nested",
        &judging(&many("matches", &|n| format!("(?:[ab]{{0,60}}a){{30}}c{n}"), 10), &here),
        &text,
    );
    measure("words", &judging(&many("matches", &|n| format!(r"\w+@\w+\.{n}"), 50), &here), &accents);
    measure("contains", &judging(&many("contains", &|n| format!("x{n}"), 100), &here), &text);
    measure("accents", &judging(&many("contains", &|n| format!("x{n}"), 100), &here), &accents);
    measure("short", &judging(&many("equals", &|n| format!("x{n}"), 100), &here), "x");
    measure("dates", &judging(&many("greaterThan", &|_| "2030-01-01".to_owned(), 100), &here), "2026-01-01");
    measure("nothing", &judging(&[], &here), "x");
    let token =
        json!([{ "type": "setVariable", "key": "x", "value": "{{session.sessionHistory.0.block.id}}" }]);
    let mut tokens = judging(&[], &here);
    tokens["blocks"][0]["onEnter"] = token;
    measure("tokens", &tokens, "x");
    tokens["blocks"][0]["onEnter"] = json!([{ "type": "deleteVariable", "key": "x" }]);
    tokens["blocks"][0]["contents"] = json!([text_of("Oi")]);
    measure("messages", &tokens, "x");
    tokens["blocks"][0]["outputConditions"] = json!([{ "conditions": [condition("contains", "{{session.variables}}{{session.variables}}")], "target": { "end": true } }]);
    measure("variables", &tokens, &text);
}

fn text_of(body: &str) -> Value {
    text(body)
}

/// As many blocks as a turn may enter, each as a chat's blocks are: a text, an action, two outputs.
#[test]
fn ten_thousand_honest_blocks_are_within_the_budget() {
    let mut blocks: Vec<Value> = (0..9_999)
        .map(|at| {
            let next = json!({ "blockId": format!("b{}", at + 1) });
            json!({ "id": format!("b{at}"), "type": "content",
                "onEnter": [{ "type": "setVariable", "key": "step", "value": format!("{at} of {{{{contact.name}}}}") }],
                "contents": if at % 2 == 0 { json!([text("Um passo, {{contact.name}}.")]) } else { json!([]) },
                "outputConditions": [
                    { "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["não", "sair"] }],
                      "target": { "end": true } },
                    { "conditions": [{ "source": { "type": "context", "key": "step" }, "comparator": "exists" }],
                      "target": next }],
                "defaultOutput": next })
        })
        .collect();
    blocks.push(json!({ "id": "b9999", "type": "content", "input": {}, "defaultOutput": { "end": true } }));
    let mut definition = flow_of(&blocks);
    definition["settings"] = json!({ "maxStepsPerTurn": 10_000 });
    let mut stage = Stage::new(&definition);
    stage.start("quero saber o preço");
    assert!(stage.waiting(), "{:?}", stage.frozen());
}

#[test]
fn patterns_over_accented_answers_are_cheap() {
    // A menu with a hundred expressions that know words of any alphabet, over a message of the usual length.
    let outputs: Vec<Value> = (0..60)
        .map(|n| {
            json!({ "conditions": [{ "source": { "type": "input" }, "comparator": "matches",
                "values": [format!(r"(?i)\b(opção|escolho)\s+{n}\b"), format!(r"^\w+\s{n}$")] }], "target": { "end": true } })
        })
        .collect();
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "a", "type": "content", "outputConditions": outputs,
        "defaultOutput": { "blockId": "b" } }),
        json!({ "id": "b", "type": "content", "input": {}, "defaultOutput": { "end": true } }),
    ]));
    stage.start(&"Olá, não sei qual opção escolher, você pode me ajudar? ".repeat(8));
    assert!(stage.waiting(), "{:?}", stage.frozen());
}

#[test]
fn work_before_a_request_counts_after_it() {
    let conditions: Vec<Value> = (0..20).map(|n| condition("contains", &format!("x{n}"))).collect();
    let outputs: Vec<Value> =
        conditions.iter().map(|one| json!({ "conditions": [one], "target": { "end": true } })).collect();
    let mut definition = flow_of(&[json!({ "id": "a", "type": "content",
        "onEnter": [{ "type": "executeScript", "script": "1" }], "outputConditions": outputs,
        "defaultOutput": { "flowId": "flow1" } })]);
    definition["settings"] = json!({ "maxStepsPerTurn": 10_000 });
    let mut stage = Stage::new(&definition);
    let (mut frozen, _) = plays(&mut stage, &"ab".repeat(30_000));
    let mut rounds = 0;
    while frozen.is_none() {
        let seq = stage.session.pending.as_ref().expect("it waits").seq;
        let result = crate::flow::EffectResult::Script { value: json!(1) };
        stage.play(crate::flow::Trigger::EffectDone { seq, result: &result });
        frozen = stage.frozen().map(str::to_owned);
        rounds += 1;
    }
    assert_eq!(frozen.as_deref(), Some("turn_too_long"));
    assert!((2..200).contains(&rounds), "{rounds}");
}
