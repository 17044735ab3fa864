//! Actions that ask the outside: the turn stops, and goes on with the result.

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::handover::jump;
use super::stage::*;
use crate::flow::{EffectRequest, EffectResult, HttpRequest, OutsideCall, TraceStep, Trigger, TurnEnd};
use crate::message::IncomingMessage;

fn http(extra: &Value) -> Value {
    let mut action = json!({ "type": "httpRequest", "url": "https://api.example/{{input}}", "statusVariable": "status",
        "errorVariable": "error", "response": [{ "path": "items.0.id", "variable": "id" }, { "variable": "all" }] });
    action.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
    action
}

/// `actions` on entering a block that then says the values of its variables and asks on.
fn stage_of(actions: &[Value]) -> Stage {
    Stage::new(&flow_of(&[json!({ "id": "call", "type": "content", "onEnter": actions,
            "contents": [text("{{status}}/{{error}}/{{id}}/{{all}}/{{input}}")], "input": { "variable": "next" },
            "defaultOutput": { "blockId": "call" } })]))
}

fn request(stage: &Stage) -> EffectRequest {
    match &stage.outcome().end {
        TurnEnd::Effect(request) => (**request).clone(),
        other => panic!("{other:?}"),
    }
}

fn http_of(stage: &Stage) -> HttpRequest {
    match request(stage).call {
        OutsideCall::Http(request) => request,
        OutsideCall::Script(_) => panic!("a script"),
    }
}

fn answer(values: Vec<Value>) -> EffectResult {
    EffectResult::Http { status: 200, values }
}

fn done(stage: &mut Stage, result: &EffectResult) -> Vec<String> {
    let seq = request(stage).seq;
    stage.play(Trigger::EffectDone { seq, result });
    stage.said()
}

#[test]
fn a_request_ends_the_turn_and_its_result_goes_on_with_it() {
    let before = json!({ "type": "setVariable", "key": "first", "value": 1 });
    let after = json!({ "type": "setVariable", "key": "last", "value": "{{id}}!" });
    let mut stage = stage_of(&[before, http(&json!({})), after]);
    stage.start("a b/../é");
    let made = http_of(&stage);
    assert_eq!(made.url.expose_secret(), "https://api.example/a%20b%2F..%2F%C3%A9", "one part of the path");
    assert_eq!((stage.variable("first"), stage.variable("last")), (json!(1), Value::Null));
    let session = stage.session.clone();
    assert_eq!(session.deadline(), Some(request(&stage).deadline));
    assert_eq!(session.wake_at, session.deadline(), "a process that dies is noticed");
    assert_eq!(
        done(&mut stage, &answer(vec![json!("A1"), json!({ "x": [1] })])),
        [r#"200//A1/{"x":[1]}/a b/../é"#]
    );
    assert_eq!(stage.variable("last"), "A1!");
    assert!(stage.waiting() && stage.session.pending.is_none());
    assert_eq!(stage.session.deadline(), Some(NOW + std::time::Duration::from_secs(1800)));
}

#[test]
fn a_result_that_comes_twice_or_late_does_nothing() {
    let mut stage = stage_of(&[http(&json!({}))]);
    stage.start("x");
    let seq = request(&stage).seq;
    let result = answer(vec![json!("A1")]);
    for stale in [seq - 1, seq + 1] {
        stage.play(Trigger::EffectDone { seq: stale, result: &result });
        assert_eq!(stage.outcome().ignored, Some("not waited for"));
    }
    stage.play(Trigger::EffectDone { seq, result: &result });
    assert_eq!(stage.said().len(), 1);
    let after = stage.session.clone();
    stage.play(Trigger::EffectDone { seq, result: &result });
    assert_eq!((&stage.session, stage.said().len()), (&after, 0));
}

#[test]
fn a_failure_is_an_error_unless_the_flow_goes_on() {
    let failed =
        EffectResult::Failed { code: "http_status".into(), message: "503".into(), status: Some(503) };
    let mut stage = stage_of(&[http(&json!({}))]);
    stage.start("x");
    done(&mut stage, &failed);
    assert_eq!(stage.frozen(), Some("http_status"));
    assert!(stage.session.pending.is_some(), "as it was");

    let mut stage = stage_of(&[http(&json!({ "continueOnError": true }))]);
    stage.start("x");
    assert_eq!(done(&mut stage, &failed), ["503/http_status///x"]);
    // The next success takes the code away.
    stage.say("y");
    assert_eq!(done(&mut stage, &answer(vec![json!(1), Value::Null])), ["200//1//y"]);

    // And a failure the value of the success.
    stage.say("z");
    let timed_out = EffectResult::failed("http_timeout", "10 s");
    assert_eq!(done(&mut stage, &timed_out), ["/http_timeout///z"]);

    let mut stage = stage_of(&[http(&json!({}))]);
    stage.start("x");
    let value = json!(1);
    done(&mut stage, &EffectResult::Script { value });
    assert_eq!(stage.frozen(), Some("unknown_outcome"), "a result of another kind");
}

#[test]
fn what_failed_can_be_tried_again() {
    let after = json!({ "type": "setVariable", "key": "last", "value": "{{id}}!" });
    let mut stage = stage_of(&[http(&json!({ "method": "POST" })), after]);
    stage.start("x");
    let first = request(&stage);
    done(&mut stage, &EffectResult::failed("http_timeout", "10 s"));
    assert_eq!(stage.frozen(), Some("http_timeout"));
    stage.play(Trigger::EffectAgain { seq: first.seq + 1 });
    assert_eq!(stage.outcome().ignored, Some("not waited for"));
    stage.play(Trigger::EffectAgain { seq: first.seq });
    let second = request(&stage);
    assert_eq!((second.seq, &second.call), (first.seq + 1, &first.call));
    assert_eq!(done(&mut stage, &answer(vec![json!("A1"), Value::Null])), ["200//A1//x"]);
    assert_eq!(stage.variable("last"), "A1!");
}

#[test]
fn a_lost_request_is_repeated_only_where_that_is_safe() {
    for (method, repeated) in
        [("GET", true), ("POST", false), ("PUT", false), ("PATCH", false), ("DELETE", false)]
    {
        let mut stage = stage_of(&[http(&json!({ "method": method, "continueOnError": true }))]);
        stage.start("x");
        let first = request(&stage);
        stage.after(14_999).time_out();
        assert_eq!(stage.outcome().ignored, Some("not yet"));
        stage.after(1).time_out();
        if repeated {
            let second = request(&stage);
            assert_eq!((second.seq, &second.call), (first.seq + 1, &first.call));
            stage.play(Trigger::EffectDone { seq: first.seq, result: &answer(vec![]) });
            assert_eq!(stage.outcome().ignored, Some("not waited for"), "the first one came after all");
            stage.after(15_000).time_out();
        }
        assert_eq!(stage.said(), ["/unknown_outcome///x"], "{method}");
    }
}

#[test]
fn the_loop_guard_counts_through_requests() {
    let call = |id: &str, target: &str| {
        json!({ "id": id, "type": "content", "onEnter": [http(&json!({}))],
            "outputConditions": [{ "conditions": [{ "source": { "type": "context", "key": "never" }, "comparator": "exists" }],
                "target": { "end": true } }], "defaultOutput": { "flowId": "flow2", "blockId": target } })
    };
    let mut stage = Stage::new(&flow_of(&[call("a", "b")])).with_flow(
        "flow2",
        &flow_of(&[
            json!({ "id": "b", "type": "content", "defaultOutput": { "flowId": "flow1", "blockId": "a" } }),
        ]),
    );
    stage.start("x");
    let mut turns = 0;
    while stage.frozen().is_none() {
        turns += 1;
        assert!(turns < 200, "an endless turn");
        done(&mut stage, &answer(vec![]));
    }
    assert_eq!((stage.frozen(), turns), (Some("flow_loop"), 50));
}

#[test]
fn a_redirect_gives_up_the_request() {
    let mut stage = stage_of(&[http(&json!({}))]);
    stage.start("x");
    let first = request(&stage);
    stage.play(Trigger::Jump(&jump("flow1", "call", true)));
    let second = request(&stage);
    assert!(second.seq > first.seq);
    stage.play(Trigger::EffectDone { seq: first.seq, result: &answer(vec![]) });
    assert_eq!(stage.outcome().ignored, Some("not waited for"));
}

#[test]
fn a_message_to_a_waiting_turn_is_not_the_engines() {
    let mut stage = stage_of(&[http(&json!({}))]);
    stage.start("x");
    let before = stage.session.clone();
    stage.play(Trigger::Message(&IncomingMessage::text("m", "hello?")));
    assert_eq!((&stage.session, stage.outcome().ignored), (&before, Some("it waits for a result")));
}

#[test]
fn a_request_on_leaving_goes_on_to_the_outputs() {
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "ask", "type": "content", "input": { "variable": "x" }, "onLeave": [http(&json!({}))],
            "outputConditions": [{ "conditions": [{ "source": { "type": "context", "key": "id" }, "comparator": "equals", "values": ["A1"] }],
                "target": { "blockId": "yes" } }], "defaultOutput": { "blockId": "no" } }),
        json!({ "id": "yes", "type": "content", "contents": [text("yes {{input}}")], "defaultOutput": { "end": true } }),
        json!({ "id": "no", "type": "content", "contents": [text("no")], "defaultOutput": { "end": true } }),
    ]));
    stage.start("oi");
    stage.say("mine");
    assert_eq!(done(&mut stage, &answer(vec![json!("A1")])), ["yes mine"]);
    assert!(stage.ended());
}

#[test]
fn what_a_contact_writes_cannot_change_a_request() {
    let headers = json!({ "headers": { "x-name": "{{input}}" }, "url": "https://api.example/fixed" });
    let mut stage = stage_of(&[http(&headers)]);
    stage.start("a\r\nx-admin: 1");
    assert_eq!(stage.frozen(), Some("http_bad_request"));
    for upwards in ["..", ".", "%2e%2E"] {
        let mut stage = stage_of(&[http(&json!({ "url": "https://api.example/users/{{input}}/x" }))]);
        stage.start(upwards);
        let escaped = upwards.starts_with('%');
        assert_eq!(stage.frozen(), if escaped { None } else { Some("http_bad_request") }, "{upwards}");
    }
    let body = json!({ "method": "POST", "body": { "name": "{{input}}" }, "url": "https://api.example/x" });
    let mut stage = stage_of(&[http(&body)]);
    stage.start(r#"x", "admin": "1"#);
    let made = http_of(&stage);
    let body: Value = serde_json::from_str(made.body.expect("a body").expose_secret()).expect("JSON");
    assert_eq!((body, made.is_json), (json!({ "name": r#"x", "admin": "1"# }), true));
    let large = json!({ "method": "POST", "body": { "a": "{{v}}", "b": "{{v}}", "c": "{{v}}", "d": "{{v}}{{v}}", "e": "{{v}}" } });
    let set = json!({ "type": "setVariable", "key": "v", "value": "x".repeat(60_000) });
    let mut stage = stage_of(&[set, http(&large)]);
    stage.start("x");
    assert!(stage.frozen().is_none(), "a rendered value has at most 64 KiB");
}

#[test]
fn secrets_are_shown_nowhere() {
    let secret = json!({ "url": "https://api.example/{{router.brand}}", "headers": { "authorization": "Bearer {{router.brand}}" },
        "method": "POST", "body": "{{flow.promo}}" });
    let mut stage = stage_of(&[http(&secret)]);
    stage.start("x");
    let made = http_of(&stage);
    assert_eq!(made.headers[0].1.expose_secret(), "Bearer ACME");
    assert_eq!(made.body.as_ref().expect("a body").expose_secret(), "X1");
    let shown = [
        format!("{:?}", stage.outcome()),
        serde_json::to_string(&stage.session.pending).expect("serialises"),
        serde_json::to_string(&stage.outcome().trace).expect("serialises"),
    ];
    for shown in shown {
        assert!(!shown.contains("ACME") && !shown.contains("X1"), "{shown}");
    }
}

#[test]
fn a_script_sees_copies_and_sets_what_it_returns() {
    let script = |extra: &Value| {
        let mut action = json!({ "type": "executeScript", "script": "1", "errorVariable": "error" });
        action.as_object_mut().expect("an object").extend(extra.as_object().expect("an object").clone());
        action
    };
    let set = json!({ "type": "setVariable", "key": "n", "value": 7 });
    let mut stage = stage_of(&[set, script(&json!({ "variable": "id" }))]);
    stage.start("oi");
    let OutsideCall::Script(made) = request(&stage).call else { panic!("no script") };
    assert_eq!(made.scope["variables"]["n"], 7);
    assert_eq!((&made.scope["input"], &made.scope["now"]), (&json!("oi"), &json!(NOW.as_millis())));
    assert!(!made.scope.to_string().contains("ACME"), "static variables stay outside");
    assert_eq!(done(&mut stage, &EffectResult::Script { value: json!(42) }), ["//42//oi"]);

    let mut stage = stage_of(&[script(&json!({}))]);
    stage.start("oi");
    let value = json!({ "id": "x", "a.b": 1, "": 2, "{": 3 });
    assert_eq!(done(&mut stage, &EffectResult::Script { value }), ["//x//oi"]);
    assert_eq!(stage.session.variables.len(), 2, "{:?}", stage.session.variables);

    let mut stage = stage_of(&[script(&json!({ "continueOnError": true }))]);
    stage.start("oi");
    assert_eq!(done(&mut stage, &EffectResult::failed("script_timeout", "x")), ["/script_timeout///oi"]);
    let waited = TraceStep::Action {
        kind: "executeScript".into(),
        result: crate::flow::ActionResult::Failed,
        code: Some("script_timeout".into()),
    };
    assert!(stage.outcome().trace.contains(&waited));
}
