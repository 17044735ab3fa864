//! Turns that would take long: their work is counted.

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::{FlowDefinition, MAX_TURN_WORK};

fn condition(comparator: &str, value: &str) -> Value {
    json!({ "source": { "type": "context", "key": "long" }, "comparator": comparator, "values": [value] })
}

/// A block with an output for each condition, none of which is taken.
fn judging(conditions: &[Value], target: &Value) -> Value {
    let outputs: Vec<Value> =
        conditions.iter().map(|one| json!({ "conditions": [one], "target": { "end": true } })).collect();
    flow_of(&[json!({ "id": "a", "type": "content", "outputConditions": outputs, "defaultOutput": target })])
}

/// Starts with a variable that holds `text`; returns the code with which the session froze, if it did.
fn plays(stage: &mut Stage, text: &str) -> Option<String> {
    stage.session.variables.insert("long".into(), json!(text));
    stage.start("oi");
    stage.frozen().map(str::to_owned)
}

/// The turn used its budget, and no more than one condition beyond it.
fn used_its_budget(stage: &Stage) {
    let work = stage.outcome().work;
    assert!((MAX_TURN_WORK / 2..MAX_TURN_WORK * 5 / 4).contains(&work), "{work} units");
}

/// Expressions over 60 KB of text, and texts compared in a circle of two flows. Without the budget each takes
/// seconds or minutes; `cargo xtask bench budget` measures the time that a budget takes.
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
        assert_eq!(plays(&mut stage, &text).as_deref(), Some("turn_too_long"), "{what}");
        used_its_budget(&stage);
    }

    let contains: Vec<Value> = (0..100).map(|n| condition("contains", &format!("x{n}"))).collect();
    let mut one = judging(&contains, &json!({ "flowId": "flow2" }));
    one["settings"] = json!({ "maxStepsPerTurn": 1_000, "errorTarget": { "end": true } });
    let two = judging(&contains, &json!({ "flowId": "flow1" }));
    let mut stage = Stage::new(&one).with_flow("flow2", &two);
    let frozen = plays(&mut stage, &text);
    assert_eq!(frozen.as_deref(), Some("turn_too_long"), "an errorTarget is no way out of it");
    used_its_budget(&stage);
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
    assert_eq!(plays(&mut stage, "b").as_deref(), Some("turn_too_long"), "it asks for one beyond the limit");
    stage.session = session();
    let mut definition = definition;
    definition["blocks"][0]["outputConditions"][0]["conditions"][0]["comparator"] = json!("exists");
    let mut stage = Stage::new(&definition);
    assert_eq!(plays(&mut stage, "b"), None, "it asks for none");
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
    let mut frozen = plays(&mut stage, &"ab".repeat(30_000));
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
