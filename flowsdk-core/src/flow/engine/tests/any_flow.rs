//! Property: whatever the flow and whatever the contact does, every turn ends.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::handover::{hand_back, jump};
use super::stage::*;
use crate::event::{HandBack, JumpTarget};
use crate::flow::{EffectResult, TraceStep, Trigger, TurnEnd};
use crate::message::IncomingMessage;
use crate::session::{MAX_CALLS, Mode, Session};

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
        Just(json!({ "type": "acceptOptIn" })),
        any_text().prop_map(|tag| json!({ "type": "addTags", "tags": [tag] })),
        any_text().prop_map(|x| json!({ "type": "trackEvent", "name": "e", "properties": { "x": x } })),
        (any_text(), any::<bool>(), prop::sample::select(vec!["GET", "POST"])).prop_map(|(part, go_on, method)| json!({
            "type": "httpRequest", "method": method, "url": format!("https://a.example/{part}"), "continueOnError": go_on,
            "response": [{ "path": "x", "variable": "v1" }], "errorVariable": "v2" })),
        (any::<bool>()).prop_map(|go_on| json!({ "type": "executeScript", "script": "1", "continueOnError": go_on })),
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
        (target(), 0..10u8),
    )
        .prop_map(move |(on_enter, texts, input, on_leave, outputs, (default, kind))| {
            let contents: Vec<Value> = texts.iter().map(|body| text(body)).collect();
            let outputs: Vec<Value> = outputs
                .into_iter()
                .map(|(conditions, target)| json!({ "conditions": conditions, "target": target }))
                .collect();
            let mut block = json!({ "id": format!("b{at}"), "onEnter": on_enter, "onLeave": on_leave,
                "outputConditions": outputs, "defaultOutput": default });
            let own = match kind {
                0 => json!({ "type": "agent", "agentId": "a", "maxMessages": 3, "inputTimeout": 500 }),
                1 => json!({ "type": "human", "queueId": "q" }),
                2 => json!({ "type": "flow", "flowId": "flow2" }),
                3 => json!({ "type": "flow", "flowId": "flow1", "blockId": "b2" }),
                _ => json!({ "type": "content", "contents": contents, "input": input }),
            };
            block.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
            block
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
        inputs in prop::collection::vec((0..14u8, "\\PC{0,6}|a|12|\\{\\{v1\\}\\}"), 1..20),
    ) {
        // A definition with a cycle is refused, and that is all there is to it.
        if let (Ok(_), Ok(_)) = (compile_as("flow1", &definition), compile_as("flow2", &other)) {
            let mut stage = Stage::new(&definition).with_flow("flow2", &other);
            let steps = |definition: &Value| definition["settings"]["maxStepsPerTurn"].as_u64().unwrap_or(100);
            let most = steps(&definition).max(steps(&other));
            for (kind, said) in inputs {
                let message = IncomingMessage::text("m", said);
                let before = stage.session.clone();
                partner(&mut stage, kind, &message);
                let outcome = stage.outcome();
                let entered = |step: &&TraceStep| matches!(step, TraceStep::BlockEntered { .. });
                prop_assert!(outcome.trace.iter().filter(entered).count() as u64 <= most);
                prop_assert!(outcome.session.calls.len() <= MAX_CALLS);
                prop_assert_eq!(outcome.session.agent.is_some(), outcome.session.mode == Mode::Agent);
                match &outcome.end {
                    _ if outcome.ignored.is_some() => {
                        prop_assert_eq!(&Session { wake_at: before.wake_at, ..outcome.session.clone() }, &before);
                    }
                    TurnEnd::Waiting => prop_assert!(outcome.session.deadline().is_some()),
                    TurnEnd::HandedOver(owner) => prop_assert_eq!(*owner, outcome.session.mode),
                    TurnEnd::Effect(request) => {
                        prop_assert!(outcome.session.effect_seq == request.seq && request.seq > before.effect_seq);
                        prop_assert_eq!(outcome.session.deadline(), Some(request.deadline));
                    }
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

/// Something that the contact, the clock, an agent, a human, an operator or a server does.
fn partner(stage: &mut Stage, kind: u8, message: &IncomingMessage) {
    let seq = stage.session.pending.as_ref().map_or(0, |pending| pending.seq);
    let reason = HandBack { agent_end_reason: Some("resolved".into()), ..hand_back() };
    let jumping = JumpTarget { flow_id: "flow2".parse().expect("id"), block_id: "b1".parse().expect("id") };
    let failed = EffectResult::failed("http_timeout", "x");
    let got = EffectResult::Http { status: 200, values: vec![json!("a")] };
    let computed = EffectResult::Script { value: json!({ "v1": "a" }) };
    let jumped = [jump("flow2", "b3", true), jump("flow1", "b4", false)];
    let elsewhere = HandBack { jump_target: Some(jumping), ..hand_back() };
    let tap = tapped("a", "12");
    stage.after(match kind {
        0 => 1_000,
        1 => 20_000,
        _ => 0,
    });
    let trigger = match kind {
        0 | 1 => Trigger::InputTimeout,
        2 => Trigger::Message(&tap),
        3 => Trigger::Start(message),
        4 => Trigger::AgentEnded(&reason),
        5 => Trigger::HumanEnded(&reason),
        6 => Trigger::HumanEnded(&elsewhere),
        7 => Trigger::Jump(&jumped[0]),
        8 => Trigger::Jump(&jumped[1]),
        9 => Trigger::EffectDone { seq, result: &failed },
        10 => Trigger::EffectDone { seq, result: &got },
        11 => Trigger::EffectDone { seq, result: &computed },
        _ => Trigger::Message(message),
    };
    stage.play(trigger);
}
