//! A database that the version before wrote, mid-conversation (`fixtures/version-0.1-before-parts`).

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use flowsdk_core::id::Cuids;
use flowsdk_core::time::{Clock, ManualClock};
use flowsdk_server::app::{Adapters, App};
use flowsdk_server::config::{Config, Environment};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use sqlx::Connection as _;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::harness::{Begins, Services, eventually};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/version-0.1-before-parts");
/// The first start with this version, after the last message that the version before answered: no answer is overdue.
const LATER_MS: i64 = 5_000;

fn fixture(name: &str) -> Value {
    let text = std::fs::read_to_string(format!("{FIXTURE}/{name}")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A request of a visitor.
async fn ask(router: &Router, visitor: &Value, method: &str, path: &str, body: Option<Value>) -> Value {
    let text = |name: &str| visitor[name].as_str().unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("x-channel-id", text("channel"))
        .header("x-user-id", text("userId"))
        .header("x-session-key", text("sessionKey"))
        .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
        .unwrap();
    let answer = router.clone().oneshot(request).await.unwrap();
    let status = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&body));
    serde_json::from_slice(&body).unwrap()
}

fn texts(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["text"]["body"].as_str().unwrap()).collect()
}

/// The history, oldest first. Its messages are numbered; without their numbers they are as the version before has them.
async fn history(router: &Router, visitor: &Value) -> Vec<Value> {
    let page = ask(router, visitor, "GET", "/webchat/history?limit=200", None).await;
    let mut items: Vec<Value> = page["items"].as_array().unwrap().iter().rev().cloned().collect();
    for (seq, item) in (1..).zip(&mut items) {
        let item = item.as_object_mut().unwrap();
        assert_eq!(item.remove("seq"), Some(json!(seq)));
        assert!(item.remove("chatId").unwrap().is_string());
    }
    items
}

/// The application of this version on a database of the version before, and that database's visitors.
struct After {
    router: Router,
    visitors: Value,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

impl After {
    async fn start(set_up: &str, services: &[(&str, String)]) -> Self {
        let visitors = fixture(&format!("{set_up}/visitors.json"));
        let secrets = fixture("secrets.json");
        let secret = |name: &str| secrets[name].as_str().map(str::to_owned);
        let config = Config::read(Environment::new(|name| match name {
            "CRYPTO_SECRET" => secret("cryptoSecret"),
            "JWT_ACCESS_SECRET" => secret("jwtAccessSecret"),
            "JWT_REFRESH_SECRET" => secret("jwtRefreshSecret"),
            _ => services.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()),
        }))
        .unwrap();
        let items = ["waiting", "frozen", "unread"].map(|name| visitors[name]["history"].as_array().unwrap());
        let last = items.into_iter().flatten().filter_map(|item| item["timestamp"].as_i64()).max().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(last + LATER_MS));
        let ids = Arc::new(Cuids::new(Arc::clone(&clock)));
        let app = App::build(config, Adapters { clock, ids, ..Adapters::system() }).await.unwrap();
        let (router, stop) = (app.router(), app.supervisor().intake.clone());
        let running = tokio::spawn(async move { app.run().await.unwrap() });
        Self { router, visitors, stop, running }
    }

    fn visitor(&self, name: &str) -> Value {
        let mut visitor = self.visitors[name].clone();
        visitor["channel"] = self.visitors["channel"].clone();
        visitor
    }

    async fn say(&self, visitor: &Value, text: &str) -> Value {
        let path = "/webchat/test/messages?wait=10";
        ask(&self.router, visitor, "POST", path, Some(json!({ "text": text }))).await
    }

    /// The flow goes on where it waited, with the contact's name and the router's secret.
    async fn the_waiting_session_goes_on(&self) {
        let waiting = self.visitor("waiting");
        let before = history(&self.router, &waiting).await;
        assert_eq!(&before, waiting["history"].as_array().unwrap());
        let turn = self.say(&waiting, "um bolo").await;
        assert_eq!(turn["sessionId"], waiting["sessionId"]);
        let after = history(&self.router, &waiting).await;
        assert_eq!(after[..before.len()], before[..]);
        let answer = "um bolo para Ana, com o código test-value-code. Algo mais?";
        assert_eq!(texts(&after[before.len()..]), ["um bolo", answer]);
    }

    /// The session that froze is frozen still, and keeps its history.
    async fn the_frozen_session_is_frozen(&self) {
        let frozen = self.visitor("frozen");
        assert_eq!(&history(&self.router, &frozen).await, frozen["history"].as_array().unwrap());
        assert_eq!(self.say(&frozen, "alô?").await["frozen"], true);
    }

    /// The version before had taken a message and left its turn.
    async fn the_unread_message_is_answered(&self) {
        let unread = self.visitor("unread");
        let before = unread["history"].as_array().unwrap();
        let answer = "um bolo para Caio, com o código test-value-code. Algo mais?";
        let after = eventually("the message that was left is answered", async || {
            let items = history(&self.router, &unread).await;
            texts(&items).contains(&answer).then_some(items)
        });
        let after = after.await;
        assert_eq!(&after[..before.len()], &before[..]);
        assert_eq!(texts(&after[before.len()..]), ["um bolo", answer]);
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_of_a_sqlite_file_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("flowsdk.db");
    std::fs::copy(format!("{FIXTURE}/sqlite/flowsdk.db"), &database).unwrap();
    let after = After::start("sqlite", &[("DATABASE_URL", format!("sqlite:{}", database.display()))]).await;
    after.the_waiting_session_goes_on().await;
    after.the_frozen_session_is_frozen().await;
    let other = after.visitor("unread");
    assert_eq!(&history(&after.router, &other).await, other["history"].as_array().unwrap());
    assert_eq!(after.say(&other, "um bolo").await["sessionId"], other["sessionId"]);
    after.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_of_postgres_and_redis_go_on() {
    let Some(services) = Services::both(Begins::Empty).await else {
        return;
    };
    let mut connection = sqlx::PgConnection::connect(&services.url()).await.unwrap();
    let dump = std::fs::read_to_string(format!("{FIXTURE}/postgres/dump.sql")).unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(dump)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let streams: Vec<Vec<String>> = serde_json::from_value(fixture("postgres/redis.json")).unwrap();
    services.write_redis(&streams).await;
    let redis = services.redis().unwrap().to_owned();
    let addresses = [("DATABASE_URL", services.url()), ("REDIS_URL", redis)];
    let after = After::start("postgres", &addresses).await;
    after.the_unread_message_is_answered().await;
    after.the_waiting_session_goes_on().await;
    after.the_frozen_session_is_frozen().await;
    after.stop().await;
}
