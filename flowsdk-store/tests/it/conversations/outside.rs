//! Turns that wait for something outside: results, crashes, messages that come meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowsdk_core::conversation::{ConversationEvent, Outside, TurnReport};
use flowsdk_core::event::{EffectDone, FlowEvent};
use flowsdk_core::flow::{EffectRequest, EffectResult};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{HasTraces as _, MAX_DEFERRED, Mode, SessionId};
use flowsdk_core::store::Store as _;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::flows::flow_of;
use super::resumption::resume_of;
use super::world::{World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_result_comes_back_through_the_lane,
    messages_wait_for_the_result_and_keep_their_order,
    a_result_delivered_twice_is_taken_once,
    a_process_that_dies_with_a_request_is_noticed,
    messages_that_waited_follow_the_owner,
    without_anybody_outside_requests_fail_at_once,
    a_failure_that_freezes_keeps_what_waited,
    whoever_resumes_has_it_tried_again,
}

/// Remembers what is to be performed.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<(SessionId, EffectRequest)>>);

impl Outside for Asked {
    fn perform(&self, session: &SessionId, request: EffectRequest) {
        self.0.lock().expect("a lock").push((session.clone(), request));
    }
}

pub(super) fn says(body: &str) -> Value {
    json!([{ "type": "text", "text": { "body": body } }])
}

/// Says something, asks a server, says what came, and waits; `human` hands over instead.
fn flow(method: &str, go_on: bool) -> Value {
    let call = json!({ "type": "httpRequest", "method": method, "url": "https://api.example/{{input}}", "continueOnError": go_on,
        "response": [{ "path": "id", "variable": "id" }], "errorVariable": "error" });
    flow_of(&[
        json!({ "id": "before", "type": "content", "contents": says("Wait"), "defaultOutput": { "blockId": "call" } }),
        json!({ "id": "call", "type": "content", "onEnter": [call], "contents": says("Got {{id}}{{error}} for {{input}}"),
            "input": { "variable": "x" },
            "outputConditions": [{ "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["human"] }],
                "target": { "blockId": "human" } },
                { "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["end"] }], "target": { "end": true } }],
            "defaultOutput": { "blockId": "echo" } }),
        json!({ "id": "echo", "type": "content", "contents": says("Echo {{input}}"), "input": { "variable": "x" },
            "outputConditions": [{ "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["call"] }],
                "target": { "blockId": "before" } }],
            "defaultOutput": { "blockId": "echo" } }),
        json!({ "id": "human", "type": "human", "defaultOutput": { "end": true } }),
    ])
}

pub(super) struct Scene {
    pub(super) world: World,
    asked: Arc<Asked>,
}

impl Scene {
    pub(super) async fn new(store: SqlStore, definition: Value) -> Self {
        let mut world = World::new(store).await;
        let asked = Arc::new(Asked::default());
        let conversations = world.new_conversations();
        world.conversations = Arc::new(conversations.with_outside(Arc::clone(&asked) as Arc<dyn Outside>));
        world.publish("router1", "calls", definition).await;
        world.start_with("router1", "calls").await;
        Self { world, asked }
    }

    fn seq(&self) -> i64 {
        let asked = self.asked.0.lock().expect("a lock");
        asked.last().expect("a request").1.seq
    }

    pub(super) fn count(&self) -> usize {
        self.asked.0.lock().expect("a lock").len()
    }

    async fn done(&self, visitor: &str, seq: i64, result: EffectResult) -> TurnReport {
        let event = EffectDone { session_id: session(visitor), seq, result, took_ms: Some(12) };
        self.world.handle(ConversationEvent::Flow(FlowEvent::EffectDone(event))).await
    }

    async fn answered(&self, visitor: &str, id: &str) -> Vec<String> {
        let result = EffectResult::Http { status: 200, values: vec![json!(id)] };
        bodies(&self.done(visitor, self.seq(), result).await)
    }
}

async fn a_result_comes_back_through_the_lane(store: SqlStore) {
    let mut definition = flow("GET", false);
    definition["settings"]["trace"] = json!(true);
    let scene = Scene::new(store, definition).await;
    assert_eq!(scene.world.say("ana", "m1", "oi").await, ["Wait"], "what was said before is out");
    let stored = scene.world.stored("ana").await.expect("a session").session;
    let pending = stored.pending.as_ref().expect("it waits");
    assert_eq!((pending.seq, stored.wake_at), (scene.seq(), Some(pending.deadline)));
    assert_eq!(scene.answered("ana", "A1").await, ["Got A1 for oi"]);
    let mut tx = scene.world.store.read().await.expect("read");
    let traces = tx.traces().trace(&session("ana"), None, 10).await.expect("a page");
    drop(tx);
    let done = json!({ "step": "outsideDone", "outcome": "200", "tookMs": 12 });
    assert!(traces[0].steps.as_array().expect("steps").contains(&done), "{}", traces[0].steps);
    let asks = traces[1].steps.as_array().expect("steps").iter().find(|step| step["step"] == "suspended");
    assert!(
        asks.expect("a request")["target"].as_str().expect("a server").starts_with("GET http"),
        "{asks:?}"
    );
    assert_eq!(scene.world.say("ana", "m2", "x").await, ["Echo x"]);
    assert_eq!(
        scene.world.transcript_of("ana").await,
        ["> oi", "< Wait", "< Got A1 for oi", "> x", "< Echo x"]
    );
}

async fn messages_wait_for_the_result_and_keep_their_order(store: SqlStore) {
    let scene = Scene::new(store, flow("POST", false)).await;
    scene.world.say("ana", "m1", "oi").await;
    for text in ["one", "two", "three"] {
        let event = scene.world.text("ana", text, text);
        let report = scene.world.handle(event.clone()).await;
        assert_eq!((report.outgoing.len(), report.stored[0].duplicate), (0, false));
        let again = scene.world.handle(event).await;
        assert!(again.stored[0].duplicate, "stored, and waiting once");
    }
    assert_eq!(scene.answered("ana", "A1").await, ["Got A1 for oi", "Echo one", "Echo two", "Echo three"]);
    // One of those that waited leads to a request again: the rest waits on.
    let messages = ["call", "four", "five"].map(|text| IncomingMessage::text(text, text)).to_vec();
    let event = ConversationEvent::Incoming(scene.world.event("ana", messages));
    assert_eq!(bodies(&scene.world.handle(event).await), ["Wait"]);
    assert_eq!(scene.answered("ana", "A2").await, ["Got A2 for call", "Echo four", "Echo five"]);
    // Nobody can fill the row without end.
    scene.world.say("ana", "m9", "call").await;
    let many =
        (0..MAX_DEFERRED + 20).map(|n| IncomingMessage::text(format!("n{n}"), n.to_string())).collect();
    let report = scene.world.handle(ConversationEvent::Incoming(scene.world.event("ana", many))).await;
    assert_eq!(report.stored.len(), MAX_DEFERRED + 20, "all are stored");
    assert_eq!(scene.answered("ana", "A3").await.len(), 1 + MAX_DEFERRED);
}

async fn a_result_delivered_twice_is_taken_once(store: SqlStore) {
    let scene = Scene::new(store, flow("GET", false)).await;
    scene.world.say("ana", "m1", "oi").await;
    let first = scene.seq();
    let result = || EffectResult::Http { status: 200, values: vec![json!("A1")] };
    assert_eq!(scene.done("ana", first, result()).await.outgoing.len(), 1);
    assert_eq!(scene.done("ana", first, result()).await.outgoing.len(), 0);
    scene.world.say("ana", "m2", "x").await;
    scene.world.say("ana", "m3", "call").await;
    assert_eq!(scene.done("ana", first, result()).await.outgoing.len(), 0, "of an earlier request");
    assert_eq!(scene.answered("ana", "A2").await, ["Got A2 for call"]);
    // A session that ended takes none, nor does its successor.
    scene.world.say("ana", "m4", "x").await;
    scene.world.say("ana", "m4b", "call").await;
    let last = scene.seq();
    scene.answered("ana", "A3").await;
    scene.world.say("ana", "m5", "end").await;
    assert_eq!(scene.world.stored("ana").await, None);
    assert_eq!(scene.done("ana", last, result()).await.outgoing.len(), 0);
    scene.world.clock.advance(Duration::from_secs(1));
    scene.world.say("ana", "m6", "oi").await;
    assert_eq!(scene.done("ana", last, result()).await.outgoing.len(), 0);
}

async fn a_process_that_dies_with_a_request_is_noticed(store: SqlStore) {
    // 10 s for the request and 5 s of grace.
    let scene = Scene::new(store, flow("POST", true)).await;
    scene.world.say("ana", "m1", "oi").await;
    scene.world.say("ana", "m2", "meanwhile").await;
    assert_eq!(scene.world.wait(Duration::from_millis(14_999)).await, [""; 0]);
    assert_eq!(scene.count(), 1);
    let told = scene.world.wait(Duration::from_millis(1)).await;
    assert_eq!(told, ["Got unknown_outcome for oi", "Echo meanwhile"], "a POST is not repeated");
    assert_eq!(scene.count(), 1);
    scene.world.publish("router1", "reads", flow("GET", true)).await;
    scene.world.start_with("router1", "reads").await;
    scene.world.say("bia", "b1", "oi").await;
    assert_eq!(scene.world.wait(Duration::from_secs(15)).await, [""; 0]);
    assert_eq!(scene.count(), 3, "a GET is repeated once");
    assert_eq!(scene.answered("bia", "B1").await, ["Got B1 for oi"]);
    scene.world.say("caio", "c1", "oi").await;
    scene.world.wait(Duration::from_secs(15)).await;
    assert_eq!(scene.world.wait(Duration::from_secs(15)).await, ["Got unknown_outcome for oi"]);
    assert_eq!(scene.count(), 5);
}

async fn messages_that_waited_follow_the_owner(store: SqlStore) {
    let scene = Scene::new(store, flow("GET", false)).await;
    scene.world.say("ana", "m1", "oi").await;
    for text in ["human", "hello?", "anybody?"] {
        scene.world.say("ana", text, text).await;
    }
    assert_eq!(scene.answered("ana", "A1").await, ["Got A1 for oi"]);
    assert_eq!(scene.world.stored("ana").await.expect("a session").session.mode, Mode::Human);
    let events = scene.world.published(TopicName::Helpdesk).await;
    assert_eq!((&events[0]["kind"], events.len()), (&json!("handoff"), 2));
    let texts: Vec<_> =
        events[1]["messages"].as_array().expect("a list").iter().map(|m| m["text"]["body"].clone()).collect();
    assert_eq!(texts, ["hello?", "anybody?"]);
    // Where the session ends on the way, the next message begins it anew.
    scene.world.say("bia", "b1", "oi").await;
    for text in ["end", "again"] {
        scene.world.say("bia", &format!("b{text}"), text).await;
    }
    assert_eq!(scene.answered("bia", "B1").await, ["Got B1 for oi", "Wait"]);
    assert_eq!(scene.answered("bia", "B2").await, ["Got B2 for again"]);
}

async fn without_anybody_outside_requests_fail_at_once(store: SqlStore) {
    let world = World::new(store).await;
    world.publish("router1", "calls", flow("GET", true)).await;
    world.start_with("router1", "calls").await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Wait", "Got not_available for oi"]);
}

async fn a_failure_that_freezes_keeps_what_waited(store: SqlStore) {
    let scene = Scene::new(store, flow("GET", false)).await;
    scene.world.say("ana", "m1", "oi").await;
    scene.world.say("ana", "m2", "meanwhile").await;
    scene.done("ana", scene.seq(), EffectResult::failed("http_timeout", "x")).await;
    let stored = scene.world.stored("ana").await.expect("a session");
    assert!(stored.frozen && stored.session.pending.is_some());
    assert_eq!(stored.session.deferred.len(), 1);
    assert_eq!(scene.world.wait(Duration::from_secs(600)).await, [""; 0], "it is not rung for");
}

async fn whoever_resumes_has_it_tried_again(store: SqlStore) {
    let scene = Scene::new(store, flow("POST", false)).await;
    scene.world.say("ana", "m1", "oi").await;
    scene.world.say("ana", "m2", "meanwhile").await;
    let resume = || async { scene.world.conversations.resume(&resume_of(&scene.world, "ana").await).await };
    for count in 1..3 {
        scene.done("ana", scene.seq(), EffectResult::failed("http_timeout", "x")).await;
        assert!(scene.world.stored("ana").await.expect("a session").frozen);
        let report = resume().await.expect("resumed");
        assert_eq!((scene.count(), report.outgoing.len(), report.frozen), (count + 1, 0, false));
        assert!(!scene.world.stored("ana").await.expect("a session").frozen);
    }
    assert_eq!(scene.answered("ana", "A1").await, ["Got A1 for oi", "Echo meanwhile"]);
}
