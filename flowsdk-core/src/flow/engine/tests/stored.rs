//! The limits of what a flow stores (rulings S16).

use serde_json::{Value, json};

use super::stage::*;
use crate::flow::{EffectResult, Trigger};
use crate::session::{MAX_CONTACT_VARIABLES, MAX_SESSION_VARIABLES, MAX_VARIABLE};

/// A flow that runs `action` with each message, and goes to `sorry` when it fails.
fn stage_of(action: Value) -> Stage {
    let mut definition = flow_of(&[
        json!({ "id": "ask", "type": "content", "input": {}, "onLeave": [action], "defaultOutput": { "blockId": "ask" } }),
        json!({ "id": "sorry", "type": "content", "contents": [text("sorry {{code}}")], "input": {},
            "defaultOutput": { "blockId": "ask" } }),
    ]);
    definition["settings"] = json!({ "errorTarget": { "blockId": "sorry" } });
    let mut stage = Stage::new(&definition);
    stage.start("oi");
    stage
}

fn bytes(variables: &serde_json::Map<String, Value>) -> usize {
    serde_json::to_vec(variables).expect("JSON").len()
}

/// A script that returns two new names of 60 KB with each message.
#[test]
fn a_session_does_not_grow_without_end() {
    let mut stage = stage_of(json!({ "type": "executeScript", "script": "grow()", "errorVariable": "code" }));
    let mut refused = 0;
    for round in 0..20 {
        stage.say("mais");
        let Some(pending) = &stage.session.pending else {
            stage.say("outra vez");
            continue;
        };
        let seq = pending.seq;
        let value =
            json!({ format!("a{round}"): "x".repeat(60_000), format!("b{round}"): "x".repeat(60_000) });
        stage.play(Trigger::EffectDone { seq, result: &EffectResult::Script { value } });
        if stage.said() == ["sorry turn_too_large"] {
            refused += 1;
            assert!(stage.variable(&format!("a{round}")).is_null(), "all of a result or nothing");
        }
        assert!(bytes(&stage.session.variables) <= MAX_SESSION_VARIABLES + 100);
    }
    assert!(refused > 3 && stage.frozen().is_none(), "{refused}");
}

#[test]
fn a_value_has_a_limit_and_the_error_target_is_taken() {
    let set = json!({ "type": "setVariable", "key": "v", "value": ["{{input}}", "{{input}}"] });
    let mut stage = stage_of(set);
    stage.say(&"x".repeat(30_000));
    assert_eq!((stage.at(), stage.variable("v")[0].as_str().map(str::len)), ("ask", Some(30_000)));
    stage.say(&"x".repeat(MAX_VARIABLE / 2 + 1));
    assert_eq!(stage.at(), "sorry");
    assert_eq!(stage.variable("v")[0].as_str().map(str::len), Some(30_000), "the earlier value stays");
}

#[test]
fn what_does_not_grow_is_always_taken() {
    let mut stage = stage_of(json!({ "type": "setVariable", "key": "v", "value": "{{input}}" }));
    // Stored before there was a limit.
    stage.session.variables.insert("legacy".into(), json!("x".repeat(2 * MAX_SESSION_VARIABLES)));
    stage.session.variables.insert("v".into(), json!("abc"));
    stage.session.variables.insert("lastInput".into(), json!("abc"));
    stage.say("abd");
    assert_eq!((stage.at(), stage.variable("v")), ("ask", json!("abd")));
    stage.say("abde");
    assert_eq!((stage.at(), stage.variable("v")), ("sorry", json!("abd")));
}

#[test]
fn a_contact_has_a_limit_of_its_own() {
    let set = json!({ "type": "setContactVariable", "key": "v", "value": "{{input}}" });
    let mut stage = stage_of(set);
    stage.contact.variables.insert("other".into(), json!("x".repeat(MAX_CONTACT_VARIABLES - 100)));
    stage.say("short");
    assert_eq!((stage.at(), &stage.contact.variables["v"]), ("ask", &json!("short")));
    stage.say(&"x".repeat(200));
    assert_eq!((stage.at(), &stage.contact.variables["v"]), ("sorry", &json!("short")));
    assert!(bytes(&stage.contact.variables) <= MAX_CONTACT_VARIABLES);
}

#[test]
fn ten_thousand_variables_are_counted_once() {
    let mut blocks: Vec<Value> = (0..9_999)
        .map(|at| {
            json!({ "id": format!("b{at}"), "type": "content",
                "onEnter": [{ "type": "setVariable", "key": format!("v{}", at % 100), "value": format!("{at}") }],
                "defaultOutput": { "blockId": format!("b{}", at + 1) } })
        })
        .collect();
    blocks.push(json!({ "id": "b9999", "type": "content", "input": {}, "defaultOutput": { "end": true } }));
    let mut definition = flow_of(&blocks);
    definition["settings"] = json!({ "maxStepsPerTurn": 10_000 });
    let mut stage = Stage::new(&definition);
    stage.session.variables.insert("large".into(), json!("x".repeat(60_000)));
    stage.start("oi");
    assert!(stage.waiting(), "{:?}", stage.frozen());
    assert_eq!(stage.variable("v98"), json!("9998"));
}
