//! The lines of log about requests.

use serde_json::Value;

use crate::harness::http::Answer;
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(each_request_of_the_api_and_each_refusal_is_found_by_its_id);

/// The fields of the line of log about this request.
async fn line_of(server: &Server, answer: &Answer) -> Value {
    let id = &answer.headers["x-request-id"];
    eventually("the request is in the log", || async move {
        let log = server.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.map(|line| line["fields"].clone()).find(|fields| fields["request"] == *id)
    })
    .await
}

async fn each_request_of_the_api_and_each_refusal_is_found_by_its_id(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let stranger = Api::anonymous(&server);
    let router = format!("/api/routers/{}", setup.seeded.router);
    let wrong = admin.with("not-a-token");
    for (answer, expected) in [
        (admin.get(&router).await, ("GET", Some("/api/routers/{id}"), 200, "user")),
        (admin.delete("/routers/nobody").await, ("DELETE", Some("/routers/{id}"), 404, "user")),
        (stranger.get("/routers").await, ("GET", Some("/routers"), 401, "stranger")),
        (wrong.get("/routers").await, ("GET", Some("/routers"), 401, "stranger")),
        (stranger.get("/no/such/page").await, ("GET", None, 404, "stranger")),
        (stranger.delete("/auth/login").await, ("DELETE", None, 405, "stranger")),
        (stranger.get("/webchat/history").await, ("GET", None, 404, "stranger")),
    ] {
        let line = line_of(&server, &answer).await;
        let found = (line["method"].as_str(), line["route"].as_str(), line["status"].as_u64());
        let (method, route, status, caller) = expected;
        assert_eq!(found, (Some(method), route, Some(status)), "{line}");
        assert_eq!(line["caller"], caller, "{line}");
        assert!(line["ms"].as_f64().is_some_and(|ms| ms >= 0.0), "{line}");
    }
    let log = server.log();
    assert!(
        !log.contains("/no/such/page") && !log.contains("not-a-token"),
        "strangers write nothing into it"
    );
    assert!(server.stop().await.0.success());
}
