//! Targets, other flows, runtime errors.

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::TraceStep;

fn end(id: &str, says: &str) -> Value {
    json!({ "id": id, "type": "content", "contents": [text(says)], "defaultOutput": { "end": true } })
}

fn to(id: &str, target: &Value) -> Value {
    json!({ "id": id, "type": "content", "contents": [text(id)], "defaultOutput": target })
}

#[test]
fn the_first_output_that_holds_is_taken_and_conditions_are_anded() {
    let is =
        |value: &str| json!({ "source": { "type": "input" }, "comparator": "contains", "values": [value] });
    let definition = flow_of(&[
        json!({ "id": "ask", "type": "content", "input": {}, "defaultOutput": { "blockId": "none" },
            "outputConditions": [
                { "id": "1", "conditions": [is("a"), is("b")], "target": { "blockId": "both" } },
                { "id": "2", "conditions": [is("a")], "target": { "blockId": "one" } },
                { "id": "3", "conditions": [is("a")], "target": { "blockId": "never" } }] }),
        end("both", "both"),
        end("one", "one"),
        end("never", "never"),
        end("none", "none"),
    ]);
    for (answer, says) in [("ab", "both"), ("xa", "one"), ("xb", "none")] {
        let mut stage = Stage::new(&definition);
        stage.start("oi");
        assert_eq!(stage.say(answer), [says], "{answer}");
        assert!(stage.ended());
    }
}

#[test]
fn a_target_may_be_another_flow_at_its_start_or_at_a_block() {
    let other = flow_of(&[
        json!({ "id": "in", "type": "content", "contents": [text("{{session.currentFlow.name}} <{{flow.promo}}>")],
            "input": {}, "defaultOutput": { "end": true } }),
        end("side", "side door"),
    ]);
    let mut stage =
        Stage::new(&flow_of(&[to("a", &json!({ "flowId": "flow2" }))])).with_flow("flow2", &other);
    assert_eq!(stage.start("oi"), ["a", "Flow flow2 <>"], "another flow's variables are not shown");
    let position = stage.session.position.clone().expect("positioned");
    assert_eq!((position.flow_id.as_str(), position.version_id.as_str()), ("flow2", "flow2-v1"));
    assert_eq!(stage.session.history[0].flow_id.as_str(), "flow2");
    stage.say("bye");
    assert!(stage.ended());

    let side = json!({ "flowId": "flow2", "blockId": "side" });
    let mut stage = Stage::new(&flow_of(&[to("a", &side)])).with_flow("flow2", &other);
    assert_eq!(stage.start("oi"), ["a", "side door"]);
}

#[test]
fn a_runtime_error_freezes_the_session_as_it_was() {
    for (target, code) in [
        (json!({ "flowId": "gone" }), "flow_not_found"),
        (json!({ "flowId": "flow2", "blockId": "gone" }), "block_not_found"),
    ] {
        let mut first = to("a", &target);
        first["onEnter"] = json!([{ "type": "setVariable", "key": "x", "value": 1 },
            { "type": "setContactName", "value": "Other" }]);
        let mut stage = Stage::new(&flow_of(&[first])).with_flow("flow2", &flow_of(&[end("z", "z")]));
        stage.after(5_000).start("oi");
        assert_eq!(stage.frozen(), Some(code));
        assert_eq!(stage.session, session(), "the session from before the turn");
        assert_eq!(stage.contact, contact());
        assert!(!stage.outcome().contact_changed && stage.outcome().effects.is_empty());
        let failed =
            |step: &TraceStep| matches!(step, TraceStep::Failed { code: failed, .. } if failed == code);
        assert!(stage.outcome().trace.iter().any(failed));
    }
}

#[test]
fn a_flow_of_another_router_is_not_found() {
    let mut stage = Stage::new(&flow_of(&[to("a", &json!({ "flowId": "flow2" }))]))
        .with_flow("flow2", &flow_of(&[end("z", "z")]));
    stage.router.id = "router2".parse().expect("id");
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_not_found"));
}

#[test]
fn a_runtime_error_leads_to_the_error_target_once() {
    let mut definition = flow_of(&[to("a", &json!({ "flowId": "gone" })), end("sorry", "sorry")]);
    definition["settings"] = json!({ "errorTarget": { "blockId": "sorry" } });
    let mut stage = Stage::new(&definition);
    assert_eq!(stage.start("oi"), ["a", "sorry"]);
    assert!(stage.ended());

    definition["blocks"][1]["defaultOutput"] = json!({ "flowId": "gone" });
    let mut stage = Stage::new(&definition);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_not_found"), "an error on the way of an error");
}

#[test]
fn a_session_on_a_block_that_is_gone_meets_a_runtime_error() {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content", "input": {},
        "defaultOutput": { "end": true } })]));
    stage.start("oi");
    stage.session.position.as_mut().expect("set").block_id = Some("gone".parse().expect("id"));
    let before = stage.session.clone();
    assert_eq!(before.history.len(), 1);
    stage.say("hello");
    assert_eq!(stage.frozen(), Some("block_not_found"));
    assert_eq!(stage.session, before, "with its history");
}

#[test]
fn a_loop_without_a_stop_freezes_the_session() {
    // Across two flows, where validation cannot see it.
    let there = flow_of(&[to("b", &json!({ "flowId": "flow1" }))]);
    let mut here = flow_of(&[to("a", &json!({ "flowId": "flow2" })), end("sorry", "sorry")]);
    here["settings"] = json!({ "maxStepsPerTurn": 7, "errorTarget": { "blockId": "sorry" } });
    let mut stage = Stage::new(&here).with_flow("flow2", &there);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_loop"));
    let entered = |step: &&TraceStep| matches!(step, TraceStep::BlockEntered { .. });
    assert_eq!(stage.outcome().trace.iter().filter(entered).count(), 7);
    assert!(stage.outcome().effects.is_empty());

    here["settings"] = json!({ "maxStepsPerTurn": 6, "errorTarget": { "end": true } });
    let mut stage = Stage::new(&here).with_flow("flow2", &there);
    stage.start("oi");
    assert_eq!(stage.frozen(), Some("flow_loop"), "an errorTarget is no way out of a loop");
}

#[test]
fn as_many_blocks_as_the_limit_are_fine() {
    let mut definition =
        flow_of(&[to("a", &json!({ "blockId": "b" })), to("b", &json!({ "blockId": "c" })), end("c", "c")]);
    definition["settings"] = json!({ "maxStepsPerTurn": 3 });
    let mut stage = Stage::new(&definition);
    assert_eq!(stage.start("oi"), ["a", "b", "c"]);
}

#[test]
fn an_action_that_fails_stops_the_turn_unless_it_says_otherwise() {
    let grow = |key: &str, tolerant: bool| json!({ "type": "setVariable", "key": key, "continueOnError": tolerant, "value": "{{x}}{{x}}" });
    for tolerant in [false, true] {
        let mut actions = vec![json!({ "type": "setVariable", "key": "x", "value": "y".repeat(40_000) })];
        actions.extend((0..30).map(|_| grow("x", tolerant)));
        let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content", "onEnter": actions,
            "defaultOutput": { "end": true } })]));
        stage.start("oi");
        assert_eq!(stage.frozen(), (!tolerant).then_some("turn_too_large"));
        assert_eq!(stage.ended(), tolerant);
    }
}

#[test]
fn a_flow_that_may_read_static_variables_says_so() {
    let is = |block: Value| {
        let mut block = block;
        block["id"] = json!("a");
        block["type"] = json!("content");
        if block["defaultOutput"].is_null() {
            block["defaultOutput"] = json!({ "end": true });
        }
        compile_as("f", &flow_of(&[block])).expect("compiles").uses_static_variables()
    };
    let condition =
        json!([{ "source": { "type": "input" }, "comparator": "equals", "values": ["{{flow.x}}"] }]);
    assert!(!is(json!({ "contents": [text("{{contact.name}} router.x")] })));
    assert!(is(json!({ "contents": [text("{{ router.x }}")] })));
    assert!(is(
        json!({ "onEnter": [{ "type": "setVariable", "key": "x", "value": [{ "y": "{{flow.x}}" }] }] })
    ));
    assert!(is(json!({ "onLeave": [{ "type": "setContactName", "value": "{{flow.x}}" }] })));
    assert!(is(json!({ "onEnter": [{ "type": "closeChat", "conditions": condition }] })));
    assert!(is(json!({ "outputConditions": [{ "conditions": condition, "target": { "end": true } }] })));
    assert!(is(json!({ "input": { "validation": { "kind": "text", "retryText": "{{router.x}}" } } })));
    assert!(is(json!({ "defaultOutput": { "flowId": "other" } })), "the other flow may");
}
