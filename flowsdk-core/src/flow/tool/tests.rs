//! Tests of tools.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::*;
use crate::flow::engine::stage::{NOW, compile_as, contact, session};
use crate::flow::{HttpAnswer, HttpRequest, MAX_TURN_WORK, NoFlows, OutsideFailure, ScriptRequest};
use crate::router::{Router, StaticVariables};

#[derive(Debug)]
struct Scripted;

#[async_trait]
impl HttpCaller for Scripted {
    async fn call(&self, _: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        Ok(HttpAnswer { status: 200, content_type: None, body: br#"{"price": 12}"#.to_vec() })
    }
}

#[async_trait]
impl ScriptRunner for Scripted {
    async fn run(&self, request: &ScriptRequest) -> Result<Value, OutsideFailure> {
        Ok(json!(request.scope["variables"]["price"].as_i64().unwrap_or(0) * 2))
    }
}

fn tool() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true, "description": "Its name" }, { "name": "count", "type": "integer" }],
        "returns": ["price", "double", "seen"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
            { "type": "httpRequest", "url": "https://shop.example/{{product}}", "response": [{ "path": "price", "variable": "price" }] },
            { "type": "executeScript", "script": "x", "variable": "double" },
            { "type": "setVariable", "key": "seen", "value": "{{product}} {{count}} {{outer}}" },
            { "type": "setContactVariable", "key": "asked", "value": "{{product}}" }] }] })
}

async fn on_stage<R>(definition: &Value, call: impl AsyncFnOnce(&Scene<'_>, &Session) -> R) -> R {
    let flow = compile_as("tool", definition).expect("compiles");
    let router = Router::new(flow.router_id().clone(), "R", NOW);
    let scene = Scene {
        flow: Arc::clone(&flow),
        router: &router,
        statics: &StaticVariables::default(),
        now: NOW,
        flows: &NoFlows,
    };
    let mut session = session();
    session.variables.insert("outer".into(), json!("seen too"));
    session.give_to(Mode::Agent);
    let before = session.clone();
    let outcome = call(&scene, &session).await;
    assert_eq!(session, before);
    outcome
}

fn object(arguments: Value) -> Map<String, Value> {
    arguments.as_object().expect("an object").clone()
}

async fn call(definition: &Value, arguments: Value) -> Result<ToolOutcome, ToolError> {
    on_stage(definition, async |scene, session| {
        call_tool(scene, session, contact(), object(arguments), &Scripted, &Scripted).await
    })
    .await
}

async fn call_inside(
    definition: &Value,
    arguments: Value,
    allowance: u64,
) -> Result<Option<ToolOutcome>, ToolError> {
    on_stage(definition, async |scene, session| {
        call_tool_inside(scene, session, contact(), object(arguments), allowance)
    })
    .await
}

#[tokio::test]
async fn a_tool_gives_back_what_it_declares() {
    let outcome = call(&tool(), json!({ "product": "tea", "count": 2 })).await.expect("done");
    assert_eq!(
        Value::Object(outcome.returns),
        json!({ "price": 12, "double": 24, "seen": "tea 2 seen too" })
    );
    assert!(outcome.contact_changed);
    assert_eq!(outcome.contact.variables["asked"], "tea");
}

#[tokio::test]
async fn a_tool_is_called_inside_if_it_asks_nothing_and_is_short() {
    let (asking, mut plain) = (tool(), tool());
    let actions = plain["blocks"][0]["onEnter"].as_array_mut().expect("actions");
    actions.retain(|action| !matches!(action["type"].as_str(), Some("httpRequest" | "executeScript")));
    let tea = || json!({ "product": "tea", "count": 2 });
    assert_eq!(call_inside(&asking, tea(), MAX_TURN_WORK).await, Ok(None));
    assert_eq!(call_inside(&plain, tea(), 10).await, Ok(None), "it takes long");
    let inside = call_inside(&plain, tea(), MAX_TURN_WORK / 50).await.expect("called").expect("inside");
    assert_eq!(inside, call(&plain, tea()).await.expect("called"));
    assert_eq!(inside.contact.variables["asked"], "tea");
    for definition in [&asking, &plain] {
        let refused = call_inside(definition, json!({}), MAX_TURN_WORK).await;
        assert_eq!(refused, Err(ToolError::Arguments(vec!["`product` is missing".to_owned()])));
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let wrong = call(&tool(), json!({ "count": "two", "colour": 1 })).await.expect_err("refused");
    assert_eq!(wrong.to_string(), "`product` is missing; `count` is no integer; `colour` is not known");
    let mut plain = tool();
    for field in ["kind", "parameters", "returns"] {
        plain.as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(call(&plain, json!({})).await, Err(ToolError::NotATool));
}

#[test]
fn a_tool_may_not_stop_or_speak() {
    for (block, pointer) in [
        (
            json!({ "id": "a", "type": "content", "input": {}, "defaultOutput": { "end": true } }),
            "/blocks/0/input",
        ),
        (json!({ "id": "a", "type": "human", "defaultOutput": { "end": true } }), "/blocks/0/type"),
        (
            json!({ "id": "a", "type": "agent", "agentId": "x", "maxMessages": 1, "defaultOutput": { "end": true } }),
            "/blocks/0/type",
        ),
        (
            json!({ "id": "a", "type": "content", "contents": [{ "type": "text", "text": { "body": "x" } }], "defaultOutput": { "end": true } }),
            "/blocks/0/contents",
        ),
    ] {
        let mut definition = tool();
        definition["blocks"] = json!([block]);
        let problems = compile_as("tool", &definition).expect_err("refused");
        assert!(
            problems.iter().any(|problem| problem.code == "stop_in_tool" && problem.pointer == pointer),
            "{problems:?}"
        );
    }
}
