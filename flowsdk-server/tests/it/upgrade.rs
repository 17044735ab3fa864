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
use tower::ServiceExt as _;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/version-0.1-before-parts");
/// A few seconds after the last message of the fixture, so that no answer is overdue.
const LATER: i64 = 1_795_328_090_000;

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

async fn history(router: &Router, visitor: &Value) -> Vec<Value> {
    let page = ask(router, visitor, "GET", "/webchat/history?limit=200", None).await;
    page["items"].as_array().unwrap().iter().rev().cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conversations_of_the_version_before_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("flowsdk.db");
    std::fs::copy(format!("{FIXTURE}/flowsdk.db"), &database).unwrap();
    let secrets = fixture("secrets.json");
    let secret = |name: &str| secrets[name].as_str().map(str::to_owned);
    let config = Config::read(Environment::new(|name| match name {
        "DATABASE_URL" => Some(format!("sqlite:{}", database.display())),
        "CRYPTO_SECRET" => secret("cryptoSecret"),
        "JWT_ACCESS_SECRET" => secret("jwtAccessSecret"),
        "JWT_REFRESH_SECRET" => secret("jwtRefreshSecret"),
        _ => None,
    }))
    .unwrap();
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(LATER));
    let ids = Arc::new(Cuids::new(Arc::clone(&clock)));
    let app = App::build(config, Adapters { clock, ids, ..Adapters::system() }).await.unwrap();
    let (router, stop) = (app.router(), app.supervisor().intake.clone());
    let running = tokio::spawn(app.run());

    let visitors = fixture("visitors.json");
    let visitor = |name: &str| {
        let mut visitor = visitors[name].clone();
        visitor["channel"] = visitors["channel"].clone();
        visitor
    };
    // The flow goes on where it waited, with the contact's name and the router's secret.
    let waiting = visitor("waiting");
    let before = history(&router, &waiting).await;
    assert_eq!(&before, waiting["history"].as_array().unwrap());
    let path = "/webchat/test/messages?wait=10";
    let turn = ask(&router, &waiting, "POST", path, Some(json!({ "text": "um bolo" }))).await;
    assert_eq!(turn["sessionId"], waiting["sessionId"]);
    let after = history(&router, &waiting).await;
    assert_eq!(after[..before.len()], before[..]);
    let texts: Vec<_> =
        after[before.len()..].iter().map(|item| item["text"]["body"].as_str().unwrap()).collect();
    assert_eq!(texts, ["um bolo", "um bolo para Ana, com o código test-value-code. Algo mais?"]);
    // The session that froze is frozen still, and keeps its history.
    let frozen = visitor("frozen");
    assert_eq!(&history(&router, &frozen).await, frozen["history"].as_array().unwrap());
    let turn = ask(&router, &frozen, "POST", path, Some(json!({ "text": "alô?" }))).await;
    assert_eq!(turn["frozen"], true);

    stop.cancel();
    running.await.unwrap().unwrap();
}
