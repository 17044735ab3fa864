//! Apps in this process, with some of the parts: what the others are to do waits in the database for them.

use axum::body::{Body, to_bytes};
use flowsdk_channels::webchat::{HasWebchat as _, Purpose, WebchatChannel};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::PERSISTER_GROUP;
use flowsdk_core::event::{DeliveryStatus, StatusEvent};
use flowsdk_core::id::{ChannelId, RouterId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::{Broker as _, NewEntry};
use flowsdk_core::stream::topic::{Status, StreamPartition, TopicName};
use flowsdk_core::time::Timestamp;
use flowsdk_server::app::{Adapters, App};
use flowsdk_store::sql::SqlBroker;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use crate::harness::{Setup, eventually, everywhere};

everywhere!(
    messages_wait_for_the_conversation,
    answers_are_kept_while_there_is_no_gateway,
    statuses_wait_for_the_persister,
    an_app_is_part_of_another
);

/// An app without a socket.
struct Running {
    app: axum::Router,
    broker: SqlBroker,
    stop: tokio_util::sync::CancellationToken,
    end: JoinHandle<Result<(), flowsdk_core::fault::BoxError>>,
}

impl Running {
    async fn start(setup: &Setup, roles: &str) -> Self {
        let app = App::build(setup.config(roles), Adapters::system()).await.unwrap();
        let (router, stop) = (app.router(), app.supervisor().intake.clone());
        let broker = SqlBroker::new(app.store().clone());
        Self { app: router, broker, stop, end: tokio::spawn(app.run()) }
    }

    /// Entries of a stream that a group has not handled.
    async fn waiting(&self, topic: TopicName, group: &str) -> u64 {
        self.broker.backlog(StreamPartition { topic, index: 0 }, group).await.unwrap()
    }

    async fn until_handled(&self, topic: TopicName, group: &str) {
        eventually("the group has handled everything", || async {
            (self.waiting(topic, group).await == 0).then_some(())
        })
        .await;
    }

    async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn stop(self) {
        self.stop.cancel();
        self.end.await.unwrap().unwrap();
    }
}

fn get(path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let request = Request::get(path);
    headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value))
        .body(Body::empty())
        .unwrap()
}

/// A test channel of the seeded router.
async fn test_channel(setup: &Setup) -> String {
    let (cx, store) = (OpContext::system(), setup.store().await);
    let router = RouterId::parse(&setup.seeded.router).unwrap();
    let channel = WebchatChannel {
        purpose: Purpose::RouterTest,
        ..WebchatChannel::new(ChannelId::generate(cx.ids()), router, "Teste", cx.now())
    };
    let mut tx = store.begin().await.unwrap();
    tx.webchat().insert_channel(&channel).await.unwrap();
    tx.commit().await.unwrap();
    store.close().await;
    channel.id.to_string()
}

/// A visitor of the test channel of the seeded router says `text`, and the answers are not waited for.
async fn say(running: &Running, channel: &str, text: &str) -> Value {
    let request = Request::post("/webchat/test/messages?wait=0")
        .header("content-type", "application/json")
        .header("x-channel-id", channel);
    let (status, turn) =
        running.send(request.body(Body::from(json!({ "text": text }).to_string())).unwrap()).await;
    assert_eq!(status, 202, "{turn}");
    turn
}

async fn history(running: &Running, turn: &Value, channel: &str) -> Vec<String> {
    let (user, key) = (turn["userId"].as_str().unwrap(), turn["sessionKey"].as_str().unwrap());
    let headers = [("x-channel-id", channel), ("x-user-id", user), ("x-session-key", key)];
    let (status, page) = running.send(get("/webchat/history", &headers)).await;
    assert_eq!(status, 200, "{page}");
    let items = page["items"].as_array().unwrap().iter().rev();
    items.map(|item| item["text"]["body"].as_str().unwrap().to_owned()).collect()
}

async fn messages_wait_for_the_conversation(setup: Setup) {
    let channel = test_channel(&setup).await;
    let alone = Running::start(&setup, "webchat").await;
    let turn = say(&alone, &channel, "oi").await;
    assert_eq!(
        (&turn["messages"], alone.waiting(TopicName::Incoming, "conversation").await),
        (&json!([]), 1)
    );
    alone.stop().await;

    let whole = Running::start(&setup, "webchat,orchestrator,engine").await;
    whole.until_handled(TopicName::Incoming, "conversation").await;
    assert_eq!(history(&whole, &turn, &channel).await, ["oi", "eco oi"]);
    whole.stop().await;
}

async fn answers_are_kept_while_there_is_no_gateway(setup: Setup) {
    let channel = test_channel(&setup).await;
    let gateway = Running::start(&setup, "webchat").await;
    let turn = say(&gateway, &channel, "oi").await;
    gateway.stop().await;

    let conversation = Running::start(&setup, "orchestrator,engine").await;
    conversation.until_handled(TopicName::Incoming, "conversation").await;
    conversation.stop().await;

    let gateway = Running::start(&setup, "webchat").await;
    assert_eq!(history(&gateway, &turn, &channel).await, ["oi", "eco oi"]);
    assert_eq!(setup.text_of("SELECT status FROM message WHERE direction = 'out'").await, "sent");
    gateway.stop().await;
}

async fn statuses_wait_for_the_persister(setup: Setup) {
    let gateway = Running::start(&setup, "webchat").await;
    let status = StatusEvent {
        phone_number_id: None,
        status: DeliveryStatus::Delivered,
        internal_id: None,
        channel_message_id: Some("of-no-message".to_owned()),
        session_id: None,
        error: None,
        timestamp: Timestamp::from_millis(1_800_000_000_000),
    };
    gateway.broker.publish(&[NewEntry::of::<Status>(&status)]).await.unwrap();
    assert_eq!(gateway.waiting(TopicName::Status, PERSISTER_GROUP).await, 1);
    gateway.stop().await;

    let conversation = Running::start(&setup, "orchestrator,engine").await;
    conversation.until_handled(TopicName::Status, PERSISTER_GROUP).await;
    conversation.stop().await;
}

async fn an_app_is_part_of_another(setup: Setup) {
    let app = App::build(setup.config("api"), Adapters::system()).await.unwrap();
    let around = axum::Router::new().route("/", axum::routing::get(async || "of mine"));
    let around = around.fallback_service(app.router());
    let (stop, running) = (app.supervisor().intake.clone(), tokio::spawn(app.run()));
    let text = async |path: &str| {
        let response = around.clone().oneshot(get(path, &[])).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec()).unwrap())
    };
    assert_eq!(text("/").await, (200, "of mine".to_owned()));
    assert_eq!(text("/healthz").await, (200, "ok".to_owned()));
    assert_eq!((text("/users").await.0, text("/nothing").await.0), (401, 404));
    stop.cancel();
    running.await.unwrap().unwrap();
}
