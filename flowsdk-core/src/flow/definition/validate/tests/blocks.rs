//! Agent, human and sub-flow blocks, and the actions that reach further than the session.

use std::time::Instant;

use serde_json::{Value, json};

use super::{of_block, problems};

fn flow_with(block: Value) -> Vec<String> {
    problems(&json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [block] }))
}

#[test]
fn each_type_of_block_has_its_own_fields() {
    let end = json!({ "end": true });
    for (block, expected) in [
        (json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 20, "defaultOutput": end }), ""),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 0, "defaultOutput": end }),
            "out_of_range /blocks/0/maxMessages",
        ),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 1001, "defaultOutput": end }),
            "out_of_range /blocks/0/maxMessages",
        ),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 1, "inputTimeout": 0, "defaultOutput": end }),
            "out_of_range /blocks/0/inputTimeout",
        ),
        (json!({ "id": "a", "type": "agent", "agentId": "x", "defaultOutput": end }), "malformed /blocks/0"),
        (
            json!({ "id": "a", "type": "agent", "maxMessages": 1, "defaultOutput": end }),
            "malformed /blocks/0",
        ),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 1, "input": {}, "defaultOutput": end }),
            "malformed /blocks/0/input",
        ),
        (json!({ "id": "a", "type": "human", "defaultOutput": end }), ""),
        (json!({ "id": "a", "type": "human", "queueId": null, "userId": null, "defaultOutput": end }), ""),
        (
            json!({ "id": "a", "type": "human", "queueId": "q q", "defaultOutput": end }),
            "malformed /blocks/0/queueId",
        ),
        (
            json!({ "id": "a", "type": "human", "contents": [], "defaultOutput": end }),
            "malformed /blocks/0/contents",
        ),
        (json!({ "id": "a", "type": "flow", "flowId": "f", "blockId": null, "defaultOutput": end }), ""),
        (json!({ "id": "a", "type": "flow", "defaultOutput": end }), "malformed /blocks/0"),
        (
            json!({ "id": "a", "type": "flow", "flowId": "f", "returns": "yes", "defaultOutput": end }),
            "malformed /blocks/0/returns",
        ),
        (json!({ "id": "a", "type": "human" }), "malformed /blocks/0"),
        (
            json!({ "id": "a", "type": "human", "defaultOutput": { "blockId": "gone" } }),
            "target_not_found /blocks/0/defaultOutput/blockId",
        ),
        (
            json!({ "id": "a", "type": "flow", "flowId": "f", "defaultOutput": { "blockId": "a" } }),
            "cycle_without_input /blocks/0",
        ),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 1, "defaultOutput": { "blockId": "a" } }),
            "",
        ),
    ] {
        let expected: Vec<&str> = Some(expected).filter(|text| !text.is_empty()).into_iter().collect();
        assert_eq!(flow_with(block.clone()), expected, "{block}");
    }
}

#[test]
fn the_server_of_a_request_is_its_authors_choice() {
    for (url, fits) in [
        ("https://api.example", true),
        ("https://api.example/{{input}}", true),
        ("https://api.example?q={{input}}", true),
        ("http://api.example:8080/x", true),
        ("{{router.base}}", true),
        ("{{router.base}}/orders/{{input}}", true),
        ("{{flow.base}}?x={{input}}", true),
        ("https://{{router.host}}/x", true),
        ("https://{{router.host}}", true),
        ("", false),
        ("api.example", false),
        ("ftp://api.example/", false),
        ("https://", false),
        ("https:///x{{input}}", false),
        ("{{input}}", false),
        ("{{contact.site}}/x", false),
        ("https://{{input}}/", false),
        ("https://api.example{{input}}", false),
        ("https://api.example:{{input}}/", false),
        ("https://{{input}}@api.example/", false),
        ("{{router.base}}{{input}}", false),
        ("{{router.base}}.{{input}}", false),
        ("https://{{router.host}}{{input}}/", false),
        ("https://{{router.{{input}}}}/", false),
        ("javascript:alert(1)", false),
    ] {
        let found = of_block(&json!({ "onEnter": [{ "type": "httpRequest", "url": url }] }));
        let refused = found.contains(&"bad_link /blocks/0/onEnter/0/url".to_owned());
        assert_eq!(refused, !fits, "{url}: {found:?}");
    }
}

#[test]
fn actions_stay_in_their_limits() {
    let at = "/blocks/0/onEnter/0";
    let url = "https://a.example/";
    for (action, expected) in [
        (
            json!({ "type": "httpRequest", "url": url, "timeoutMs": 0 }),
            format!("out_of_range {at}/timeoutMs"),
        ),
        (
            json!({ "type": "httpRequest", "url": url, "timeoutMs": 30_001 }),
            format!("out_of_range {at}/timeoutMs"),
        ),
        (
            json!({ "type": "httpRequest", "url": url, "headers": { "a b": "" } }),
            format!("bad_name {at}/headers/a b"),
        ),
        (
            json!({ "type": "httpRequest", "url": url, "headers": { "Host": "x" } }),
            format!("bad_name {at}/headers/Host"),
        ),
        (
            json!({ "type": "httpRequest", "url": url, "response": [{ "variable": "a.b" }] }),
            format!("bad_name {at}/response/0/variable"),
        ),
        (json!({ "type": "httpRequest", "url": url, "method": "TRACE" }), format!("malformed {at}/method")),
        (json!({ "type": "httpRequest", "url": url, "colour": 1 }), format!("malformed {at}/colour")),
        (json!({ "type": "executeScript", "script": " " }), format!("out_of_range {at}/script")),
        (
            json!({ "type": "executeScript", "script": "x".repeat(65_537) }),
            format!("out_of_range {at}/script"),
        ),
        (
            json!({ "type": "executeScript", "script": "1", "variable": "a.b" }),
            format!("bad_name {at}/variable"),
        ),
        (json!({ "type": "addTags", "tags": [] }), format!("out_of_range {at}/tags")),
        (json!({ "type": "addTags", "tags": [" "] }), format!("bad_name {at}/tags/0")),
        (json!({ "type": "trackEvent", "name": "" }), format!("bad_name {at}/name")),
        (
            json!({ "type": "trackEvent", "name": "x", "properties": { "a": "{{router.key}}" } }),
            format!("static_in_variable? {at}/properties"),
        ),
        (json!({ "type": "delay", "millis": 60_001 }), format!("out_of_range {at}/millis")),
    ] {
        let mut handled = action.clone();
        handled["continueOnError"] = json!(true);
        assert_eq!(of_block(&json!({ "onEnter": [handled] })), [expected], "{action}");
    }
    let many: Vec<Value> = (0..201).map(|_| json!({ "type": "closeChat" })).collect();
    assert_eq!(of_block(&json!({ "onLeave": many })), ["out_of_range /blocks/0/onLeave"]);
}

#[test]
fn authors_are_warned_of_failures_that_freeze_the_session() {
    let flow = |action: &Value, more: Value| {
        let mut flow = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "end": true }, "onLeave": [{ "type": "closeChat" }, action] }] });
        flow.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        problems(&flow)
    };
    let request = json!({ "type": "httpRequest", "url": "https://a.example/" });
    let script = json!({ "type": "executeScript", "script": "1" });
    for action in [request, script] {
        assert_eq!(flow(&action, json!({})), ["unhandled_failure? /blocks/0/onLeave/1"]);
        assert_eq!(flow(&action, json!({ "settings": { "errorTarget": { "blockId": "a" } } })), [""; 0]);
        assert_eq!(flow(&action, json!({ "kind": "tool" })), [""; 0]);
        let mut handled = action.clone();
        handled["continueOnError"] = json!(true);
        assert_eq!(flow(&handled, json!({})), [""; 0]);
    }
}

#[test]
fn ten_thousand_blocks_of_every_type_are_judged_fast() {
    let blocks: Vec<Value> = (0..10_000)
        .map(|at| {
            let next = json!({ "blockId": format!("b{}", at + 1) });
            let own = match at % 4 {
                0 => json!({ "type": "agent", "agentId": "x", "maxMessages": 1 }),
                1 => json!({ "type": "human" }),
                2 => json!({ "type": "flow", "flowId": format!("f{at}") }),
                _ => json!({ "type": "content", "onEnter": [{ "type": "httpRequest", "url": "https://a.example/{{x}}" }] }),
            };
            let mut block = json!({ "id": format!("b{at}"), "defaultOutput": next });
            block.as_object_mut().expect("an object").extend(own.as_object().expect("an object").clone());
            block
        })
        .collect();
    let began = Instant::now();
    let found = problems(&json!({ "schemaVersion": 1, "startBlockId": "b0", "blocks": blocks }));
    assert_eq!(found.iter().filter(|problem| problem.starts_with("target_not_found")).count(), 1);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

/// Rulings H17: what a contact writes must not become part of a request's structure unseen.
#[test]
fn a_text_body_with_values_is_warned_of() {
    for (body, warned) in [
        (json!(r#"{"v":"{{v}}"}"#), true),
        (json!(r#" [{{router.list}}]"#), true),
        (json!("name={{contact.name}}"), true),
        (json!("{{input}}"), true),
        (json!({ "v": "{{input}}" }), false),
        (json!(["{{input}}"]), false),
        (json!(r#"{"v":1}"#), false),
        (json!("at {{system.now}} by {{flow.shop}}"), false),
        (json!(null), false),
    ] {
        let request =
            json!({ "type": "httpRequest", "url": "https://a.example/", "method": "POST", "body": body });
        let found = raw_bodies(&request);
        let expected = if warned { vec!["/blocks/0/onEnter/0/body".to_owned()] } else { Vec::new() };
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn a_token_in_a_script_is_warned_of() {
    for (script, warned) in [
        ("'Hi ' + {{name}}", true),
        ("`{{ contact.name }}`", true),
        ("{{input}}", true),
        ("variables.name + '{{}}'", false),
        ("{{ go(); }}", false),
        ("({ a: { b: 1 }})", false),
    ] {
        let action = json!({ "type": "executeScript", "script": script, "continueOnError": true });
        let found = of_block(&json!({ "onEnter": [action] }));
        let warning = "token_in_script? /blocks/0/onEnter/0/script".to_owned();
        assert_eq!(found, Vec::from_iter(warned.then_some(warning)), "{script}");
    }
}

/// The places of `raw_body` in a flow with this action.
fn raw_bodies(action: &Value) -> Vec<String> {
    let found = of_block(&json!({ "onEnter": [action] }));
    found.iter().filter_map(|one| one.strip_prefix("raw_body? ")).map(str::to_owned).collect()
}
