//! `GET /webchat/history` and the public page (rulings S8, spec B 4.1).

use std::time::Duration;

use flowsdk_core::time::{Clock as _, Timestamp};
use serde_json::{Value, json};

use crate::harness::{Client, Setup, everywhere, http};
use crate::messages::{history, texts_of};

everywhere!(pages_of_history, credentials);
everywhere!(in process: a_clock_that_goes_back);

async fn pages_of_history(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let empty = http::get(server.addr, "/webchat/history", &ana.headers()).await;
    assert_eq!(empty.json(), json!({ "items": [], "nextCursor": null }));
    for n in 0..12 {
        client.say(&format!("{n}")).await;
        client.texts(1).await;
    }
    let all = http::get(server.addr, "/webchat/history?limit=200", &ana.headers()).await;
    assert_eq!((all.status, all.headers["access-control-allow-origin"].as_str()), (200, "*"));
    let wants = [
        ("origin", "https://a.example"),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "authorization,x-channel-id,x-user-id,x-session-key"),
    ];
    let preflight = http::request(server.addr, "OPTIONS", "/webchat/history", &wants).await.unwrap();
    let allowed = &preflight.headers["access-control-allow-headers"];
    assert!(preflight.status == 200 && wants[2].1.split(',').all(|name| allowed.contains(name)), "{allowed}");
    let all = all.json()["items"].as_array().unwrap().clone();
    assert_eq!(all.len(), 24);
    assert_eq!((&all[0]["direction"], &all[0]["text"]["body"]), (&json!("out"), &json!("eco 11")));
    assert_eq!((&all[0]["type"], &all[0]["sender"]["kind"]), (&json!("text"), &json!("flow")));
    assert!(all[0]["timestamp"].is_i64() && all[1].get("status").is_none(), "{}", all[1]);

    // Page by page, while new messages arrive: the same rows, none twice.
    let (mut found, mut cursor): (Vec<Value>, String) = (Vec::new(), String::new());
    for round in 0.. {
        let path = format!("/webchat/history?limit=5{cursor}");
        let page = http::get(server.addr, &path, &ana.headers()).await.json();
        found.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
        client.say(&format!("depois {round}")).await;
        client.texts(1).await;
    }
    let ids = |items: &[Value]| -> Vec<Value> { items.iter().map(|item| item["id"].clone()).collect() };
    assert_eq!(ids(&found), ids(&all));

    for query in [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=a",
        "limit=",
        "limit=1.5",
        "limit=99999999999999999999",
        "cursor=",
        "cursor=x",
        "cursor=1.",
        "cursor=.x",
        "cursor=%00",
        "cursor=99999999999999999999.c",
        "limit=1&limit=2",
        "limit=%ff",
    ] {
        let answer = http::get(server.addr, &format!("/webchat/history?{query}"), &ana.headers()).await;
        answer.assert_error(400);
        assert_eq!(answer.json()["code"], "validation_failed", "{query}");
    }
    http::request(server.addr, "POST", "/webchat/history", &ana.headers()).await.unwrap().assert_error(405);
}

/// A session runs out, and the clock is put back before the next one of the same chat. The history is in the order of
/// the turns, and who comes back with `since` gets what followed.
async fn a_clock_that_goes_back(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    client.say("um").await;
    let first = client.next_messages(1).await.remove(0);
    let clock = server.app().expect("in process").clock().clone();
    let before = clock.now();
    server.advance(Duration::from_secs(31 * 60)).await;
    clock.set(Timestamp::from_millis(before.as_millis() - 5_000));
    client.say("dois").await;
    assert_eq!(client.texts(1).await, ["eco dois"]);
    let said = history(&server, &ana).await;
    let texts: Vec<_> = said.iter().map(|item| item["text"]["body"].as_str().unwrap()).collect();
    assert_eq!(texts, ["um", "eco um", "dois", "eco dois"]);
    let numbers: Vec<_> = said.iter().map(|item| item["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert!(said[2]["timestamp"].as_i64() < said[1]["timestamp"].as_i64(), "by its clock it is older");
    assert_eq!(texts_of(&said, "out"), ["eco um", "eco dois"]);
    let mut again = ana.auth();
    again["since"] = first["id"].clone();
    let (mut back, _) = Client::enter(server.addr, again).await;
    assert_eq!(back.texts(1).await, ["eco dois"]);
}

async fn credentials(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let (_bob, bob) = setup.visit(&server).await;
    client.say("segredo").await;
    client.texts(1).await;
    let token = setup.token(json!({ "sub": "ana" }));
    let (mut embedded, _) =
        Client::enter(server.addr, json!({ "channelId": setup.seeded.closed, "token": token })).await;
    embedded.say("outro segredo").await;
    embedded.texts(1).await;
    let (good, stale, forged) = (
        format!("Bearer {token}"),
        format!("Bearer {}", setup.token(json!({ "sub": "ana", "exp": 1 }))),
        format!("Bearer {}", crate::harness::token::sign("wrong", json!({ "sub": "ana" }))),
    );
    let (open, second, closed) = (&*setup.seeded.open, &*setup.seeded.second, &*setup.seeded.closed);
    for (headers, status) in [
        (vec![], 404),
        (vec![("x-channel-id", open)], 401),
        (vec![("x-channel-id", open), ("x-user-id", &*ana.user)], 401),
        (vec![("x-channel-id", open), ("x-user-id", &*ana.user), ("x-session-key", "wrong")], 401),
        (vec![("x-channel-id", open), ("x-user-id", &*ana.user), ("x-session-key", &*bob.key)], 401),
        (vec![("x-channel-id", open), ("x-user-id", "nobody"), ("x-session-key", &*ana.key)], 401),
        (vec![("x-channel-id", second), ("x-user-id", &*ana.user), ("x-session-key", &*ana.key)], 401),
        (vec![("x-channel-id", closed), ("x-user-id", &*ana.user), ("x-session-key", &*ana.key)], 401),
        (vec![("x-channel-id", "cunknown"), ("x-user-id", &*ana.user), ("x-session-key", &*ana.key)], 404),
        (vec![("x-channel-id", open), ("authorization", &*good)], 401),
        (vec![("x-channel-id", closed), ("authorization", &*stale)], 401),
        (vec![("x-channel-id", closed), ("authorization", &*forged)], 401),
        (vec![("x-channel-id", closed), ("authorization", &*token)], 401),
        (vec![("x-channel-id", closed), ("authorization", "Bearer ")], 401),
    ] {
        let answer = http::get(server.addr, "/webchat/history", &headers).await;
        answer.assert_error(status);
        assert!(!answer.body.contains("segredo"), "{headers:?}");
    }
    let headers = [("x-channel-id", closed), ("authorization", &*good)];
    let mine = http::get(server.addr, "/webchat/history", &headers).await.json();
    assert_eq!(mine["items"].as_array().unwrap().len(), 2);
    // A cursor of somebody else leads into one's own history only.
    let page = http::get(server.addr, "/webchat/history?limit=1", &headers).await.json();
    let path = format!("/webchat/history?cursor={}", page["nextCursor"].as_str().unwrap());
    let others = http::get(server.addr, &path, &bob.headers()).await.json();
    assert_eq!(others["items"], json!([]));
}

/// The script that opens the chat in pages of other sites.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_widget() {
    let setup = Setup::embedded().await;
    let server = setup.start().await;
    let script = http::get(server.addr, "/widget.js", &[]).await;
    assert_eq!(script.status, 200);
    for (name, value) in [
        ("content-type", "text/javascript; charset=utf-8"),
        ("cache-control", "public, max-age=300"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("access-control-allow-origin", "*"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(script.headers[name], value, "{name}");
    }
    assert!(script.headers["vary"].contains("accept-encoding"), "{script:?}");
    assert!(script.body.contains("flowsdkLooks"));
    let known = [("if-none-match", script.headers["etag"].as_str()), ("accept-encoding", "gzip")];
    let again = http::get(server.addr, "/widget.js", &known).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(again.headers["cross-origin-resource-policy"], "cross-origin");
    assert!(server.stop().await.0.success());
}

/// The page, its parts, and what is not there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page() {
    let setup = Setup::embedded().await;
    let server = setup.start().await;
    let addr = server.addr;
    let page = http::get(addr, "/chat/x", &[]).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = &page.headers["content-security-policy"];
    assert!(policy.contains("default-src 'none'") && !policy.contains("frame-ancestors"), "{policy}");
    assert!(!page.headers.contains_key("x-frame-options"));

    let mut assets: Vec<&str> = page.body.split('"').filter(|text| text.contains("assets/")).collect();
    assets.sort_unstable();
    assets.dedup();
    assert!(assets.iter().filter(|asset| asset.contains("?v=")).count() == 2, "{assets:?}");
    assert_eq!(page.headers["cache-control"], "no-cache");
    for asset in assets {
        let path = if asset.starts_with('/') { asset.to_owned() } else { format!("/chat/{asset}") };
        let first = http::get(addr, &path, &[]).await;
        assert_eq!(first.status, 200, "{path}");
        assert_eq!(first.headers["x-content-type-options"], "nosniff");
        let kept = first.headers["cache-control"].contains("immutable");
        assert_eq!(kept, path.contains("?v="), "{path}: {first:?}");
        let tag = &first.headers["etag"];
        let again = http::get(addr, &path, &[("if-none-match", tag)]).await;
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        assert_eq!(http::get(addr, &path, &[("if-none-match", "\"other\"")]).await.status, 200);
    }
    for path in [
        "/chat/assets/no-such.js",
        "/chat/assets/index.html",
        "/chat/assets/index%2ehtml",
        "/chat/assets/%2e%2findex.html",
        "/chat/assets/..%2f..%2fCargo.toml",
        "/chat",
        "/chat/",
        "/api",
        "/no/such/path",
        "/api/no-such",
        "/webchat/nothing",
    ] {
        http::get(addr, path, &[]).await.assert_error(404);
    }
    for path in ["/chat", "/chat/"] {
        let helpful = http::get(addr, path, &[("accept", "text/html,*/*;q=0.8")]).await;
        assert_eq!(
            (helpful.status, helpful.headers["content-type"].as_str()),
            (404, "text/html; charset=utf-8")
        );
        assert!(helpful.body.contains("/chat/CHANNEL_ID"), "{helpful:?}");
        assert_eq!(&helpful.headers["content-security-policy"], policy);
    }
    let front = http::get(addr, "/", &[]).await;
    assert_eq!((front.status, front.body.as_str()), (200, "FlowSDK server is running\nAPI: /docs\n"));
    assert_eq!(http::get(addr, "/demo", &[]).await.status, 404, "the demonstration's alone");
    let icon = http::get(addr, "/favicon.ico", &[]).await;
    assert_eq!((icon.status, icon.headers["content-type"].as_str()), (200, "image/svg+xml"));
    // Administered under the same prefix as the sockets: an answer, not a hang (spec B 7).
    http::get(addr, "/webchat/channels/x", &[]).await.assert_error(401);
    for (method, path) in
        [("POST", "/chat/x"), ("POST", "/"), ("DELETE", "/webchat/history"), ("PUT", "/readyz")]
    {
        let answer = http::request(addr, method, path, &[]).await.unwrap();
        answer.assert_error(405);
        assert!(answer.headers.contains_key("allow"), "{method} {path}");
    }
    assert_eq!(http::get(addr, "/healthz", &[]).await.body, "ok");
    setup.visit(&server).await;
    let metrics = http::get(addr, "/metrics", &[]).await;
    assert!(metrics.body.contains("flowsdk_webchat_sessions_online"), "{}", metrics.body);
}
