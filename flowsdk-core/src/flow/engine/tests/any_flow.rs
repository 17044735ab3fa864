//! Property: whatever the flow and whatever the contact does, every turn ends.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::stage::*;
use crate::flow::{TraceStep, Trigger, TurnEnd};
use crate::message::IncomingMessage;

const BLOCKS: usize = 6;

fn target() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..BLOCKS).prop_map(|at| json!({ "blockId": format!("b{at}") })),
        1 => Just(json!({ "end": true })),
        1 => Just(json!({ "flowId": "flow2" })),
        1 => Just(json!({ "flowId": "flow1" })),
        1 => Just(json!({ "flowId": "gone", "blockId": "x" })),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just("{{input}}"),
            Just("{{v1}}{{v1}}"),
            Just("{{contact.c}}"),
            Just("{{session.sessionHistory}}"),
            Just("{{session.previousBlock.name}}"),
            Just("{{"),
            Just("}}"),
            Just("a"),
            Just(" É"),
            Just("12"),
            Just("{{router.brand}}"),
            Just("{{v2.x.0}}"),
        ],
        1..5,
    )
    .prop_map(|parts| format!("x{}", parts.concat()))
}

fn condition() -> impl Strategy<Value = Value> {
    let source = prop_oneof![
        Just(json!({ "type": "input" })),
        Just(json!({ "type": "context", "key": "v1" })),
        Just(json!({ "type": "contact", "key": "c" })),
        any_text().prop_map(|value| json!({ "type": "static", "value": value })),
        Just(json!({ "type": "system", "key": "weekday" })),
    ];
    let comparator = prop::sample::select(vec![
        "equals",
        "equalsExact",
        "notEquals",
        "contains",
        "notContains",
        "startsWith",
        "endsWith",
        "greaterThan",
        "lessThan",
        "greaterOrEqual",
        "lessOrEqual",
        "in",
        "exists",
        "notExists",
    ]);
    (source, comparator, prop::collection::vec(any_text(), 1..3)).prop_map(|(source, comparator, values)| {
        json!({ "source": source, "comparator": comparator, "values": values })
    })
}

fn action() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1..4, any_text())
            .prop_map(|(n, value)| json!({ "type": "setVariable", "key": format!("v{n}"), "value": value })),
        any_text().prop_map(|value| json!({ "type": "setVariable", "key": "v2", "value": { "x": [value] } })),
        Just(json!({ "type": "deleteVariable", "key": "v1" })),
        any_text().prop_map(|value| json!({ "type": "setContactName", "value": value })),
        (any_text(), condition())
            .prop_map(|(value, condition)| json!({ "type": "setContactVariable", "key": "c",
            "value": value, "conditions": [condition], "continueOnError": true })),
        Just(json!({ "type": "closeChat" })),
        Just(json!({ "type": "delay", "millis": 10 })),
    ]
}

fn input() -> impl Strategy<Value = Value> {
    let validation = prop_oneof![
        Just(json!({ "kind": "text", "maxLength": 3 })),
        Just(json!({ "kind": "number" })),
        Just(json!({ "kind": "options", "options": ["a", "12"] })),
        Just(json!({ "kind": "regex", "pattern": "[a-z]+" })),
    ];
    (
        validation,
        prop::option::of(target()),
        prop::option::of(0..2u32),
        any_text(),
        prop::option::of(target()),
    )
        .prop_map(|(mut validation, fail, retries, retry_text, timeout)| {
            validation["failTarget"] = json!(fail);
            validation["maxRetries"] = json!(retries);
            validation["retryText"] = json!(retry_text);
            json!({ "variable": "v3", "validation": validation, "timeoutTarget": timeout, "timeoutMs": 1000 })
        })
}

fn block(at: usize) -> impl Strategy<Value = Value> {
    (
        prop::collection::vec(action(), 0..3),
        prop::collection::vec(any_text(), 0..3),
        prop::option::weighted(0.7, input()),
        prop::collection::vec(action(), 0..2),
        prop::collection::vec((prop::collection::vec(condition(), 1..3), target()), 0..3),
        target(),
    )
        .prop_map(move |(on_enter, texts, input, on_leave, outputs, default)| {
            let contents: Vec<Value> = texts.iter().map(|body| text(body)).collect();
            let outputs: Vec<Value> = outputs
                .into_iter()
                .map(|(conditions, target)| json!({ "conditions": conditions, "target": target }))
                .collect();
            json!({ "id": format!("b{at}"), "type": "content", "onEnter": on_enter, "contents": contents,
                "input": input, "onLeave": on_leave, "outputConditions": outputs, "defaultOutput": default })
        })
}

fn definition() -> impl Strategy<Value = Value> {
    let blocks: Vec<_> = (0..BLOCKS).map(|at| block(at).boxed()).collect();
    (blocks, prop::option::of(target()), 1..20u32).prop_map(|(blocks, error_target, steps)| {
        let mut definition = flow_of(&blocks);
        definition["settings"] = json!({ "maxStepsPerTurn": steps, "errorTarget": error_target });
        definition
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_turn_ends(
        definition in definition(),
        other in definition(),
        inputs in prop::collection::vec((0..4u8, "\\PC{0,6}|a|12|\\{\\{v1\\}\\}"), 1..12),
    ) {
        // A definition with a cycle is refused, and that is all there is to it.
        if let (Ok(_), Ok(_)) = (compile_as("flow1", &definition), compile_as("flow2", &other)) {
            let mut stage = Stage::new(&definition).with_flow("flow2", &other);
            let steps = |definition: &Value| definition["settings"]["maxStepsPerTurn"].as_u64().unwrap_or(100);
            let most = steps(&definition).max(steps(&other));
            for (kind, said) in inputs {
                let message = IncomingMessage::text("m", said);
                let before = stage.session.clone();
                match kind {
                    0 => stage.after(1000).play(Trigger::InputTimeout),
                    1 => stage.play(Trigger::Message(&tapped("a", "12"))),
                    2 => stage.play(Trigger::Start(&message)),
                    _ => stage.play(Trigger::Message(&message)),
                };
                let outcome = stage.outcome();
                let entered = |step: &&TraceStep| matches!(step, TraceStep::BlockEntered { .. });
                prop_assert!(outcome.trace.iter().filter(entered).count() as u64 <= most);
                match &outcome.end {
                    TurnEnd::Waiting if kind != 0 => prop_assert!(outcome.session.deadline().is_some()),
                    TurnEnd::Waiting => {}
                    TurnEnd::Ended => prop_assert!(outcome.session.deadline().is_none()),
                    TurnEnd::Frozen(_) => {
                        prop_assert!(outcome.effects.is_empty() && !outcome.contact_changed);
                        prop_assert_eq!(&outcome.session, &before);
                    }
                }
                if outcome.end == TurnEnd::Ended {
                    stage.session = session();
                }
            }
        }
    }
}
