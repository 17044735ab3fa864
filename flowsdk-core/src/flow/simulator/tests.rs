//! Tests of the simulator: the worked examples, and expectations that are not met.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{Does, Script, Step, TestFile, simulate, simulate_with};
use crate::event::HandoffDeflect;
use crate::flow::engine::stage::compile_as;
use crate::flow::{OutsideFailure, ScriptRequest, ScriptRunner};

fn example(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/flows/");
    let text = std::fs::read_to_string(format!("{folder}{name}")).expect(name);
    serde_json::from_str(&text).expect("is JSON")
}

#[test]
fn the_worked_examples_pass_their_tests() {
    let mut played = 0;
    for name in ["reception", "orders", "concierge"] {
        let tests: TestFile =
            serde_json::from_value(example(&format!("{name}.test.json"))).expect("a test file");
        let flow = compile_as(name, &example(&tests.flow)).expect("compiles");
        let others: Vec<_> =
            tests.flows.iter().map(|(id, path)| compile_as(id, &example(path)).expect("compiles")).collect();
        for script in &tests.tests {
            let report = simulate(&flow, &others, script);
            assert!(report.passed(), "{name}, {}: {:#?}", script.title, report);
            let again = simulate(&flow, &others, script);
            assert_eq!(report, again, "the same script gives the same");
            played += 1;
        }
    }
    assert!(played >= 9);
}

#[test]
fn what_is_not_as_expected_is_named_with_its_step() {
    let flow = compile_as("orders", &example("orders.json")).expect("compiles");
    let script: Script = serde_json::from_value(json!({ "steps": [
        { "say": "hi", "expect": { "messages": ["Hello"], "block": "found", "end": "ended", "requests": ["x"],
            "variables": { "order": "AB" } } },
        { "wait": 1 },
    ] }))
    .expect("a script");
    let report = simulate(&flow, &[], &script);
    let failures: Vec<&str> =
        report.failures.iter().filter_map(|failure| failure.split(": expected").next()).collect();
    assert_eq!(
        failures,
        ["messages", "block", "end", "variable order", "requests"]
            .map(|what| format!("step 1 (say): {what}"))
    );
    for wrong in [
        json!({ "steps": [{ "sing": "hi" }] }),
        json!({ "stepz": [] }),
        json!({ "steps": [{ "say": "x", "expect": { "mesages": [] } }] }),
    ] {
        assert!(serde_json::from_value::<Script>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn buttons_are_expected_by_their_texts_or_by_their_type() {
    let reply = |id: &str, title: &str| json!({ "type": "reply", "reply": { "id": id, "title": title } });
    let flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "defaultOutput": { "end": true }, "contents": [
            { "type": "interactive", "interactive": { "type": "button", "body": { "text": "Which, {{input}}?" },
              "action": { "buttons": [reply("r", "Red"), reply("b", "Blue")] } } },
            { "type": "image", "image": { "link": "https://example.com/a.png" } }] }] });
    let flow = compile_as("f", &flow).expect("compiles");
    for (expected, passes) in [
        (json!(["Which, Ana? [Red] [Blue]", "<image>"]), true),
        (json!(["<interactive>", "<image>"]), true),
        (json!(["Which, Ana? [Red]", "<image>"]), false),
        (json!(["<image>", "<interactive>"]), false),
        (json!(["<interactive>"]), false),
    ] {
        let script = json!({ "steps": [{ "say": "Ana", "expect": { "messages": expected } }] });
        let report = simulate(&flow, &[], &serde_json::from_value(script).expect("a script"));
        assert_eq!(report.passed(), passes, "{expected}: {report:#?}");
    }
}

/// Answers every script with its own text.
#[derive(Debug)]
struct Echo;

#[async_trait]
impl ScriptRunner for Echo {
    async fn run(&self, request: &ScriptRequest) -> Result<Value, OutsideFailure> {
        if request.script == "fail" {
            return Err(OutsideFailure::new("script_timeout", "too slow"));
        }
        Ok(Value::from(request.script.as_str()))
    }
}

#[tokio::test]
async fn scripts_are_run_where_the_test_does_not_mock_them() {
    let action = |script: &str, variable: &str| {
        json!({ "type": "executeScript", "script": script, "variable": variable, "errorVariable": format!("{variable}Error"),
            "continueOnError": true })
    };
    let flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [action("real", "one"),
            action("mocked", "two"), action("fail", "three"),
            { "type": "httpRequest", "url": "https://example.com", "errorVariable": "four", "continueOnError": true }] }] });
    let flow = compile_as("f", &flow).expect("compiles");
    let script = |one: &str| {
        let script = json!({ "scripts": [{ "to": "mock", "value": "a mock" }], "steps": [{ "say": "hi", "expect": { "variables": {
            "one": one, "two": "a mock", "threeError": "script_timeout", "four": "http_unreachable" } } }] });
        serde_json::from_value::<Script>(script).expect("a script")
    };
    let report = simulate_with(&flow, &[], &script("real"), &Echo).await;
    assert!(report.passed(), "{report:#?}");
    assert_eq!(
        report.steps[0].failures,
        ["script_timeout: too slow", "http_unreachable: the test has no answer to this"]
    );
    let without = simulate(&flow, &[], &script("real"));
    assert_eq!(without.failures[0], "step 1 (say): variable one: expected \"real\", found null");
    assert_eq!(without.steps[0].variables["threeError"], "script_error");
}

#[test]
fn a_frozen_session_ends_its_simulation() {
    let flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "defaultOutput": { "flowId": "gone" } }] });
    let flow = compile_as("f", &flow).expect("compiles");
    let script = json!({ "steps": [{ "say": "hi", "expect": { "end": "flow_not_found" } }, { "wait": 1, "expect": { "end": "no session" } }] });
    let report = simulate(&flow, &[], &serde_json::from_value(script).expect("a script"));
    assert!(report.passed(), "{report:#?}");
}

#[test]
fn a_human_that_does_not_begin_says_why() {
    for (deflect, expected) in [
        (json!("noAgent"), json!({ "reason": "noAgent" })),
        (
            json!({ "reason": "closed", "detail": "Até as 18h" }),
            json!({ "reason": "closed", "detail": "Até as 18h" }),
        ),
    ] {
        let step: Step =
            serde_json::from_value(json!({ "humanEnds": { "deflect": deflect } })).expect("a step");
        let Does::HumanEnds { deflect: Some(deflect), .. } = step.does else { panic!("{step:?}") };
        assert_eq!(serde_json::to_value(HandoffDeflect::from(deflect)).expect("JSON"), expected);
    }
    let wrong = serde_json::from_value::<Step>(json!({ "humanEnds": { "deflect": { "why": "x" } } }));
    let error = wrong.expect_err("no reason").to_string();
    assert!(error.contains("a reason such as"), "{error}");
}
