//! Whatever happens in whatever order: delivered twice, it has the effects of once.

use std::collections::HashSet;
use std::time::Duration;

use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::event::{EffectDone, ExternalJump, FlowEvent, HandBack, InputTimeout};
use flowsdk_core::flow::EffectResult;
use flowsdk_core::session::Session;
use flowsdk_core::testkit;
use proptest::collection::vec;
use proptest::prelude::Strategy as _;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};

use super::outside::{Scene, says};
use super::world::{bodies, session};
use crate::support::databases;

/// Asks, requests, agents, humans, sub-flows and ends, as the contact says.
fn flow() -> Value {
    let to = |text: &str| json!({ "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": [text] }], "target": { "blockId": text } });
    let next = json!({ "blockId": "ask" });
    let call = json!({ "type": "httpRequest", "method": "POST", "url": "https://a.example/", "continueOnError": true,
        "response": [{ "variable": "got" }], "errorVariable": "error" });
    json!({ "schemaVersion": 1, "startBlockId": "ask", "settings": { "inputTimeoutMs": 60_000 }, "blocks": [
        { "id": "ask", "type": "content", "contents": says("Ask {{got}}{{error}}"), "input": { "variable": "x", "timeoutTarget": { "blockId": "late" } },
            "outputConditions": [to("call"), to("agent"), to("human"), to("end"), to("sub")], "defaultOutput": next },
        { "id": "call", "type": "content", "onEnter": [call], "contents": says("Called"), "input": {}, "defaultOutput": next },
        { "id": "agent", "type": "agent", "agentId": "a", "maxMessages": 3, "inputTimeout": 30_000, "onLeave": [call], "defaultOutput": next },
        { "id": "human", "type": "human", "defaultOutput": next },
        { "id": "sub", "type": "flow", "flowId": "calls", "blockId": "late", "defaultOutput": next },
        { "id": "late", "type": "content", "contents": says("Late"), "defaultOutput": { "end": true } },
        { "id": "end", "type": "content", "onEnter": [{ "type": "closeChat" }], "contents": says("End"), "defaultOutput": { "end": true } }] })
}

/// One thing that happens; what it names is taken from the session as it stands.
fn event(scene: &Scene, stored: Option<&Session>, kind: u8, nth: usize) -> Option<ConversationEvent> {
    let say = |text: &str| Some(scene.world.text("ana", &format!("m{nth}"), text));
    let flow = |event: FlowEvent| Some(ConversationEvent::Flow(event));
    let back = |stored: &Session| HandBack {
        session_id: session("ana"),
        chat_id: stored.chat_id.clone(),
        to: "ana".to_owned(),
        phone_number_id: "wc-c1".to_owned(),
        jump_target: None,
        agent_end_reason: Some("resolved".to_owned()),
        ticket: None,
        handoff_deflect: None,
        epoch: Some(stored.epoch),
        timestamp: stored.started_at,
    };
    let done = |result: EffectResult| {
        let seq = stored?.pending.as_ref()?.seq;
        flow(FlowEvent::EffectDone(EffectDone { session_id: session("ana"), seq, result, took_ms: None }))
    };
    match kind {
        0 => say("agent"),
        1 => say("human"),
        2 | 3 => say("call"),
        4 => say("end"),
        5 => say("sub"),
        6 => flow(FlowEvent::AgentSessionEnded(back(stored?))),
        7 => flow(FlowEvent::HumanSessionEnded(back(stored?))),
        8 | 9 => done(EffectResult::Http { status: 200, values: vec![json!(nth)] }),
        10 => done(EffectResult::failed("http_timeout", "x")),
        11 => flow(FlowEvent::InputTimeout(InputTimeout { session_id: session("ana") })),
        12 | 13 => flow(FlowEvent::ExternalJump(ExternalJump {
            session_id: session("ana"),
            flow_id: "calls".parse().expect("an id"),
            block_id: if nth.is_multiple_of(2) { "call" } else { "ask" }.parse().expect("an id"),
            execute_on_entry: kind == 12,
            redirect_id: Some(format!("r{nth}")),
            ahead: false,
        })),
        _ => say("hello"),
    }
}

/// What can be compared between two worlds: everything but ids and versions.
fn shown(session: &Session) -> Value {
    json!({ "mode": session.mode.name(), "position": session.position, "variables": session.variables,
        "history": session.history, "redirects": session.redirects, "calls": session.calls, "epoch": session.epoch,
        "pending": session.pending, "effects": session.effect_seq, "wake": session.wake_at,
        "deferred": session.deferred.iter().map(|message| message.content.as_text().to_owned()).collect::<Vec<_>>() })
}

async fn play(scene: &Scene, steps: &[(u8, u64)], times: usize) -> (Vec<Vec<String>>, Vec<Option<Value>>) {
    let (mut told, mut states) = (Vec::new(), Vec::new());
    for (nth, (kind, millis)) in steps.iter().enumerate() {
        scene.world.clock.advance(Duration::from_millis(*millis));
        let stored = scene.world.stored("ana").await.map(|stored| stored.session);
        if let Some(event) = event(scene, stored.as_ref(), *kind, nth) {
            let mut said = Vec::new();
            for _ in 0..times {
                said.extend(bodies(&scene.world.handle(event.clone()).await));
            }
            told.push(said);
        }
        states.push(scene.world.stored("ana").await.map(|stored| shown(&stored.session)));
    }
    (told, states)
}

#[test]
fn any_sequence_delivered_twice_has_the_effects_of_once() {
    testkit::run("any_sequence_delivered_twice", databases::memory, |_| async {
        let config = Config { rng_seed: RngSeed::Fixed(20_261_120), ..Config::default() };
        let mut runner = TestRunner::new(config);
        let steps = vec((0..16u8, (0..8u64).prop_map(|n| n * 5_000)), 1..40);
        let (mut requests, mut modes) = (0, HashSet::new());
        for case in 0..60 {
            let steps = steps.new_tree(&mut runner).expect("steps").current();
            let once = Scene::new(databases::memory().await, flow()).await;
            let twice = Scene::new(databases::memory().await, flow()).await;
            let (said_once, states_once) = play(&once, &steps, 1).await;
            let (said_twice, states_twice) = play(&twice, &steps, 2).await;
            assert_eq!(said_once, said_twice, "case {case}: {steps:?}");
            assert_eq!(states_once, states_twice, "case {case}: {steps:?}");
            assert_eq!(once.count(), twice.count(), "case {case}: as many requests");
            requests += once.count();
            modes.extend(
                states_once.iter().flatten().filter_map(|state| state["mode"].as_str().map(str::to_owned)),
            );
        }
        assert!(requests > 50 && modes.len() == 3, "{requests} requests, {modes:?}");
    });
}
