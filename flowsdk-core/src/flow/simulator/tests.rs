//! Tests of the simulator: the worked examples, and expectations that are not met.

use serde_json::{Value, json};

use super::{Does, Script, Step, TestFile, simulate};
use crate::event::HandoffDeflect;
use crate::flow::engine::stage::compile_as;

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
            .map(|what| format!("step 0 (say): {what}"))
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
