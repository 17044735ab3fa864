//! Tools that are called outside of a turn.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::chat::HasChatTags as _;
use flowsdk_core::contact::HasContacts as _;
use flowsdk_core::conversation::{ToolCall, ToolCallError, ToolCalls, ToolReading, ToolReturned};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::flow::{
    HasTrackedEvents as _, HttpAnswer, HttpCaller, HttpRequest, OutsideFailure, ScriptRequest, ScriptRunner,
    ToolError,
};
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::{Map, Value, json};

use super::world::{KEY, World, session};
use crate::support::databases::on_every_database;

on_every_database! {
    what_a_tool_does_is_one_commit_on_what_is_there_by_then,
    a_tool_that_fails_has_done_nothing,
    tools_and_sessions_of_others_are_not_there,
    a_tool_that_asks_nothing_is_part_of_its_callers_transaction,
}

/// Asks for a price, and notes that it did.
fn tool() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true }], "returns": ["price"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
            { "type": "setContactVariable", "key": "asked", "value": "{{product}}" },
            { "type": "addTags", "tags": ["price"] },
            { "type": "trackEvent", "name": "priced", "properties": { "product": "{{product}}" } },
            { "type": "httpRequest", "url": "https://shop.example/{{product}}",
                "response": [{ "path": "price", "variable": "price" }] }] }] })
}

/// A shop whose answer takes as long as somebody needs to change the contact.
#[derive(Debug)]
struct Shop {
    store: Arc<SqlStore>,
    status: u16,
}

#[async_trait]
impl HttpCaller for Shop {
    async fn call(&self, _: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        let mut tx = self.store.begin().await.expect("no transaction is open meanwhile");
        let identity = session("ana").contact_identity();
        let mut contact = tx.contacts().find_by_phone_numbers(&[identity]).await.expect("find").remove(0);
        contact.variables.insert("plan".to_owned(), json!("pro"));
        tx.contacts().save_many(&[&contact]).await.expect("saved");
        tx.commit().await.expect("commit");
        Ok(HttpAnswer { status: self.status, content_type: None, body: br#"{"price": 12}"#.to_vec() })
    }
}

/// No tool here has a script.
#[async_trait]
impl ScriptRunner for Shop {
    async fn run(&self, _: &ScriptRequest) -> Result<Value, OutsideFailure> {
        Err(OutsideFailure::new("script_error", "there are no scripts"))
    }
}

async fn world(store: SqlStore) -> World {
    let world = World::new(store).await;
    world.publish("router1", "tool", tool()).await;
    world.say("ana", "m1", "oi").await;
    world
}

fn calls(world: &World, status: u16) -> ToolCalls<SqlStore> {
    let key = Arc::new(MasterKey::new(KEY).expect("a key"));
    let shop = Arc::new(Shop { store: Arc::clone(&world.store), status });
    ToolCalls::new(Arc::clone(&world.store), world.cx.clone(), key, Arc::clone(&shop) as _, shop)
}

/// Calls a tool about tea for ana's session.
async fn call(
    world: &World,
    router: &RouterId,
    tool: &str,
    visitor: &str,
    status: u16,
) -> Result<Map<String, Value>, ToolCallError> {
    call_by(&calls(world, status), router, tool, visitor).await
}

async fn call_by(
    calls: &ToolCalls<SqlStore>,
    router: &RouterId,
    tool: &str,
    visitor: &str,
) -> Result<Map<String, Value>, ToolCallError> {
    let (session, tool) = (session(visitor), tool.parse().expect("an id"));
    let call = ToolCall { router, session: &session, tool: &tool };
    let returned = calls
        .call(&call, |parameters| parameters.iter().map(|one| (one.name.clone(), json!("tea"))).collect())
        .await?;
    Ok(returned.returns)
}

/// What the tool noted: a variable of the contact, tags of the chat, events.
async fn noted(world: &World) -> (Value, usize, usize) {
    let variables = world.contact("ana").await.variables;
    let chat = world.open_chat("ana").await;
    let mut tx = world.store.read().await.expect("read");
    let tags = tx.chat_tags().of_chat(&chat).await.expect("tags").len();
    let events = tx.tracked_events().latest(&world.router, 10).await.expect("latest").len();
    (Value::Object(variables), tags, events)
}

async fn what_a_tool_does_is_one_commit_on_what_is_there_by_then(store: SqlStore) {
    let world = world(store).await;
    let before = world.stored("ana").await;
    let returns = call(&world, &world.router, "tool", "ana", 200).await.expect("called");
    assert_eq!(Value::Object(returns), json!({ "price": 12 }));
    assert_eq!(noted(&world).await, (json!({ "plan": "pro", "asked": "tea" }), 1, 1));
    assert_eq!(world.stored("ana").await, before, "the session is as it was");
}

async fn a_tool_that_fails_has_done_nothing(store: SqlStore) {
    let world = world(store).await;
    let failed = call(&world, &world.router, "tool", "ana", 500).await;
    assert!(matches!(failed, Err(ToolCallError::Tool(ToolError::Failed { .. }))), "{failed:?}");
    assert_eq!(noted(&world).await, (json!({ "plan": "pro" }), 0, 0));
}

async fn tools_and_sessions_of_others_are_not_there(store: SqlStore) {
    let world = world(store).await;
    world.add_router("router2", "c2").await;
    world.publish("router2", "theirs", tool()).await;
    let other: RouterId = "router2".parse().expect("an id");
    for (router, tool, visitor, no_session) in [
        (&world.router, "theirs", "ana", false),
        (&world.router, "gone", "ana", false),
        (&other, "theirs", "ana", true),
        (&world.router, "tool", "bia", true),
    ] {
        let refused = call(&world, router, tool, visitor, 200).await.expect_err("refused");
        let is_session = matches!(refused, ToolCallError::NoSession);
        assert!(
            is_session == no_session && (is_session || matches!(refused, ToolCallError::NoTool)),
            "{refused:?}"
        );
    }
    let main = call(&world, &world.router, "main", "ana", 200).await;
    assert!(matches!(main, Err(ToolCallError::Tool(ToolError::NotATool))), "{main:?}");
}

/// Tells what the contact was asked for before, and notes what it is asked for now.
fn plain() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true }], "returns": ["before"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
            { "type": "setVariable", "key": "before", "value": "{{contact.asked}}" },
            { "type": "setContactVariable", "key": "asked", "value": "{{product}}" },
            { "type": "addTags", "tags": ["price"] },
            { "type": "trackEvent", "name": "priced", "properties": {} }] }] })
}

async fn a_tool_that_asks_nothing_is_part_of_its_callers_transaction(store: SqlStore) {
    let world = world(store).await;
    world.publish("router1", "plain", plain()).await;
    let (calls, ana) = (calls(&world, 200), world.stored("ana").await.expect("a session").session);
    let plain = "plain".parse().expect("an id");
    let call = async |tx: &mut _, reading: &mut ToolReading, tool: &FlowId, product: &str| {
        let arguments = Map::from_iter([("product".to_owned(), json!(product))]);
        calls.call_within(tx, reading, &ana, tool, arguments).await
    };
    let begin = async || (world.store.begin().await.expect("begin"), ToolReading::default());
    let before = |returned: Option<ToolReturned>| returned.expect("inside").returns["before"].clone();

    let (mut tx, mut reading) = begin().await;
    assert_eq!(call(&mut tx, &mut reading, &plain, "tea").await.expect("called"), None, "it is not compiled");
    drop(tx);
    call_by(&calls, &world.router, "plain", "ana").await.expect("called");
    assert_eq!(noted(&world).await, (json!({ "asked": "tea" }), 1, 1));

    let (mut tx, mut reading) = begin().await;
    let of_ana = std::slice::from_ref(&ana.contact_id);
    reading.read_contacts(&mut tx, of_ana).await.expect("read");
    let cake = call(&mut tx, &mut reading, &plain, "cake").await.expect("called");
    assert_eq!(
        cake.as_ref().and_then(|returned| returned.contact_variables.clone()),
        object(json!({ "asked": "cake" }))
    );
    assert_eq!(before(cake), "tea");
    assert_eq!(before(call(&mut tx, &mut reading, &plain, "pie").await.expect("called")), "cake");
    tx.rollback().await;
    assert_eq!(noted(&world).await, (json!({ "asked": "tea" }), 1, 1), "it is taken back with its caller");

    let (mut tx, mut reading) = begin().await;
    assert_eq!(before(call(&mut tx, &mut reading, &plain, "cake").await.expect("called")), "tea");
    tx.commit().await.expect("commit");
    assert_eq!(noted(&world).await, (json!({ "asked": "cake" }), 1, 2));

    world.add_router("router2", "c2").await;
    world.publish("router2", "theirs", self::plain()).await;
    for (tool, asks) in [("theirs", false), ("gone", false), ("tool", true)] {
        // It compiles the tool, whosever it is.
        let called = call_by(&calls, &world.router, tool, "ana").await;
        assert_eq!(called.is_ok(), asks, "{tool}: {called:?}");
        let (mut tx, mut reading) = begin().await;
        let called = call(&mut tx, &mut reading, &tool.parse().expect("an id"), "tea").await;
        match called {
            Ok(returned) => assert!(asks && returned.is_none(), "{tool}: {returned:?}"),
            Err(error) => assert!(!asks && matches!(error, ToolCallError::NoTool), "{tool}: {error:?}"),
        }
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}
