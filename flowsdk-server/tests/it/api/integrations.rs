//! Integrations of routers (spec A 2.9, 4.7).

use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::building::{actions, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process:
    what_is_refused,
    content,
    credentials_do_not_come_back,
    failures,
    private_addresses,
    scope,
);

const TOKEN: &str = "token-da-integracao-123";

fn integration(router: &str, url: &str) -> Value {
    json!({ "routerId": router, "name": "CRM", "kind": "http", "baseUrl": url, "credentials": TOKEN })
}

/// A server that integrations may reach.
async fn outside() -> MockServer {
    MockServer::start().await
}

fn reaching(setup: Setup) -> Setup {
    setup.plant(TOKEN);
    setup.with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1")
}

async fn fetch(api: &Api, id: &str, body: &Value) -> crate::harness::http::Answer {
    let answer = api.post(&format!("/integrations/{id}/fetch-content"), body).await;
    assert!(!answer.body.contains(TOKEN) && !format!("{:?}", answer.headers).contains(TOKEN), "{answer:?}");
    answer
}

async fn life(setup: Setup) {
    setup.plant(TOKEN);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let answer = admin.post("/integrations", &integration(&router, "https://crm.example/v1")).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/integrations/{}", id(&made)));
    assert_eq!((&made["kind"], &made["baseUrl"]), (&json!("http"), &json!("https://crm.example/v1")));
    assert_eq!(made["settings"], json!({ "auth": "bearer", "headerName": null, "timeoutMs": 10_000 }));
    assert_eq!((&made["hasCredentials"], made.as_object().unwrap().len()), (&json!(true), 9), "{made}");
    let path = format!("/integrations/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let settings = json!({ "auth": "header", "headerName": "X-Api-Key", "timeoutMs": 500 });
    let changed = admin.patch(&path, &json!({ "name": "Ação", "settings": settings })).await.ok(200);
    assert_eq!((&changed["settings"], &changed["hasCredentials"]), (&settings, &json!(true)));
    // Credentials do not follow to another server.
    let moved = admin.patch(&path, &json!({ "baseUrl": "https://other.example" })).await.ok(200);
    assert_eq!(moved["hasCredentials"], false);
    assert_eq!(admin.patch(&path, &json!({ "credentials": TOKEN })).await.ok(200)["hasCredentials"], true);
    assert_eq!(admin.patch(&path, &json!({ "credentials": null })).await.ok(200)["hasCredentials"], false);
    let list = admin.get(&format!("/integrations?routerId={router}")).await.ok(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    admin.delete(&path).await.ok(204);
    for answer in [admin.get(&path).await, admin.patch(&path, &json!({})).await, admin.delete(&path).await] {
        answer.refused(404, "not_found", "Integração não encontrada");
    }
    let log = records(&admin, &format!("entityType=INTEGRATION_SERVER&routerId={router}"), 6).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "DELETE"]);
    let text = json!(log).to_string();
    assert!(!text.contains(TOKEN) && !text.contains("ncrypted"), "{text}");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/integrations", &integration(&router, "https://crm.example")).await.ok(201));
    let path = format!("/integrations/{made}");
    for (field, value, at) in [
        ("name", json!(""), "name"),
        ("name", json!(" \t"), "name"),
        ("baseUrl", json!("ftp://crm.example"), "baseUrl"),
        ("baseUrl", json!("https://user:senha@crm.example"), "baseUrl"),
        ("baseUrl", json!("https://crm.example?x=1"), "baseUrl"),
        ("baseUrl", json!("https://crm.example/a/../b"), "baseUrl"),
        ("credentials", json!("short"), "credentials"),
        ("credentials", json!("a\r\nx-evil: 1"), "credentials"),
        ("settings", json!({ "auth": "digest" }), "settings.auth"),
        ("settings", json!({ "auth": "header" }), "settings.headerName"),
        ("settings", json!({ "headerName": "x-api-key" }), "settings.headerName"),
        ("settings", json!({ "auth": "header", "headerName": "Host" }), "settings.headerName"),
        ("settings", json!({ "auth": "header", "headerName": "a b" }), "settings.headerName"),
        ("settings", json!({ "timeoutMs": 30_001 }), "settings.timeoutMs"),
        ("settings", json!({ "token": "x" }), "settings.token"),
        ("credentialsEncrypted", json!("00:11"), "credentialsEncrypted"),
    ] {
        let mut body = integration(&router, "https://crm.example");
        body[field] = value.clone();
        assert_eq!(admin.post("/integrations", &body).await.invalid_fields(), [at], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [at], "{value}");
    }
    let mut basic = integration(&router, "https://crm.example");
    basic["settings"] = json!({ "auth": "basic" });
    basic["credentials"] = json!("usuario-sem-senha");
    assert_eq!(admin.post("/integrations", &basic).await.invalid_fields(), ["credentials"]);
    for field in ["kind", "routerId"] {
        assert_eq!(admin.patch(&path, &json!({ field: "http" })).await.invalid_fields(), [field]);
    }
    let nowhere = admin.post("/integrations", &integration("cnothing", "https://crm.example")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    for (body, field) in [
        (json!({ "path": "a" }), "path"),
        (json!({ "path": "/../b" }), "path"),
        (json!({ "path": "/%2e%2e/b" }), "path"),
        (json!({ "path": "/a?b=c" }), "path"),
        (json!({ "path": "@evil.example/" }), "path"),
        (json!({ "query": { "a": 7 } }), "query.a"),
        (json!({ "method": "DELETE" }), "method"),
    ] {
        assert_eq!(fetch(&admin, &made, &body).await.invalid_fields(), [field], "{body}");
    }
    fetch(&admin, "cnothing", &json!({})).await.refused(404, "not_found", "Integração não encontrada");
}

async fn content(setup: Setup) {
    let setup = reaching(setup);
    let (server, outside) = (setup.start().await, outside().await);
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin
        .post("/integrations", &integration(&router, &format!("{}/v1/", outside.uri())))
        .await
        .ok(201));
    Mock::given(method("GET"))
        .and(path("/v1/customers"))
        .and(query_param("q", "Ana & Bia"))
        .and(header("authorization", format!("Bearer {TOKEN}").as_str()))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!({ "items": [1, "ç"] }))
                .insert_header("x-token", TOKEN),
        )
        .mount(&outside)
        .await;
    let asked = json!({ "path": "/customers", "query": { "q": "Ana & Bia" } });
    let answer = fetch(&admin, &made, &asked).await;
    assert!(!answer.headers.contains_key("x-token"));
    let expected =
        json!({ "status": 200, "contentType": "application/json", "content": { "items": [1, "ç"] } });
    assert_eq!(answer.ok(200), expected);
    Mock::given(path("/v1"))
        .respond_with(ResponseTemplate::new(404).set_body_raw("não há", "text/plain; charset=utf-8"))
        .mount(&outside)
        .await;
    let expected = json!({ "status": 404, "contentType": "text/plain; charset=utf-8", "content": "não há" });
    assert_eq!(fetch(&admin, &made, &json!({})).await.ok(200), expected, "whatever its status");

    // Each way to show the credentials.
    let address = format!("/integrations/{made}");
    for (settings, name, value) in [
        (json!({ "auth": "basic" }), "authorization", "Basic dXN1YXJpbzpzZW5oYS0xMjM=".to_owned()),
        (json!({ "auth": "header", "headerName": "x-api-key" }), "x-api-key", TOKEN.to_owned()),
    ] {
        if settings["auth"] == "basic" {
            // Not the token that is stored.
            let refused = admin.patch(&address, &json!({ "settings": settings })).await;
            assert_eq!(refused.invalid_fields(), ["credentials"]);
            let both = json!({ "settings": settings, "credentials": "usuario:senha-123" });
            admin.patch(&address, &both).await.ok(200);
            let refused = admin.patch(&address, &json!({ "credentials": TOKEN })).await;
            assert_eq!(refused.invalid_fields(), ["credentials"]);
        } else {
            admin.patch(&address, &json!({ "settings": settings, "credentials": TOKEN })).await.ok(200);
        }
        outside.reset().await;
        Mock::given(path("/v1/a"))
            .and(header(name, value.as_str()))
            .respond_with(ResponseTemplate::new(204))
            .mount(&outside)
            .await;
        let answer = fetch(&admin, &made, &json!({ "path": "/a" })).await.ok(200);
        assert_eq!(answer, json!({ "status": 204, "contentType": null, "content": "" }), "{settings}");
    }
    admin.patch(&address, &json!({ "credentials": null })).await.ok(200);
    assert_eq!(fetch(&admin, &made, &json!({ "path": "/a" })).await.ok(200)["status"], 404);
    let asked = outside.received_requests().await.unwrap();
    let last = asked.last().unwrap();
    assert!(
        !last.headers.contains_key("x-api-key") && !last.headers.contains_key("authorization"),
        "{last:?}"
    );
}

/// A server that echoes what it was sent shows nobody the credentials.
async fn credentials_do_not_come_back(setup: Setup) {
    let setup = reaching(setup);
    let (server, outside) = (setup.start().await, outside().await);
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let made = id(&admin.post("/integrations", &integration(&router, &outside.uri())).await.ok(201));
    let echo = json!({ "headers": { "authorization": format!("Bearer {TOKEN}") }, TOKEN: [TOKEN] });
    Mock::given(path("/json"))
        .respond_with(ResponseTemplate::new(200).set_body_json(&echo))
        .mount(&outside)
        .await;
    let text = format!("authorization: Bearer {TOKEN}");
    let kind = format!("text/plain; echo={TOKEN}");
    Mock::given(path("/text"))
        .respond_with(ResponseTemplate::new(200).set_body_raw(text, &kind))
        .mount(&outside)
        .await;
    let shown = fetch(&admin, &made, &json!({ "path": "/json" })).await.ok(200);
    assert_eq!(shown["content"], json!({ "headers": { "authorization": "Bearer ***" }, "***": ["***"] }));
    let shown = fetch(&admin, &made, &json!({ "path": "/text" })).await.ok(200);
    assert_eq!(
        (&shown["content"], &shown["contentType"]),
        (&json!("authorization: Bearer ***"), &json!("text/plain; echo=***"))
    );
    // Another server, to which this one sends on, is not shown them at all.
    let other = MockServer::start().await;
    Mock::given(path("/there")).respond_with(ResponseTemplate::new(200)).mount(&other).await;
    let on = ResponseTemplate::new(302).insert_header("location", format!("{}/there", other.uri()));
    Mock::given(path("/moved")).respond_with(on).mount(&outside).await;
    assert_eq!(fetch(&admin, &made, &json!({ "path": "/moved" })).await.ok(200)["status"], 200);
    let asked = other.received_requests().await.unwrap();
    assert!(asked.len() == 1 && !asked[0].headers.contains_key("authorization"), "{asked:?}");
}

async fn failures(setup: Setup) {
    let setup = reaching(setup);
    let (server, outside) = (setup.start().await, outside().await);
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let mut body = integration(&router, &outside.uri());
    body["settings"] = json!({ "timeoutMs": 300 });
    let made = id(&admin.post("/integrations", &body).await.ok(201));
    Mock::given(path("/slow"))
        .respond_with(ResponseTemplate::new(200).set_delay(Duration::from_secs(20)))
        .mount(&outside)
        .await;
    let large = ResponseTemplate::new(200).set_body_bytes(vec![b'a'; (1 << 20) + 1]);
    Mock::given(path("/large")).respond_with(large).mount(&outside).await;
    let slow = fetch(&admin, &made, &json!({ "path": "/slow" })).await;
    slow.refused(504, "provider_timeout", "O servidor não respondeu a tempo");
    let long = json!({ "settings": { "timeoutMs": 30_000 } });
    admin.patch(&format!("/integrations/{made}"), &long).await.ok(200);
    let large = fetch(&admin, &made, &json!({ "path": "/large" })).await;
    large.refused(502, "provider_answer_too_large", "A resposta do servidor é grande demais");
    // Nobody listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let gone = id(&admin.post("/integrations", &integration(&router, &gone)).await.ok(201));
    fetch(&admin, &gone, &json!({})).await.refused(502, "provider_unreachable", "O servidor não respondeu");
}

/// Without being allowed by name, nothing of the operator's own network is reached.
async fn private_addresses(setup: Setup) {
    setup.plant(TOKEN);
    let (server, outside) = (setup.start().await, outside().await);
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let local = outside.uri().replace("127.0.0.1", "localhost");
    for url in [
        &outside.uri(),
        "http://169.254.169.254/latest",
        "http://[::1]:80",
        "http://0x7f000001",
        "http://10.0.0.1",
    ] {
        let made = id(&admin.post("/integrations", &integration(&router, url)).await.ok(201));
        let answer = fetch(&admin, &made, &json!({})).await;
        answer.refused(422, "provider_refused", "O endereço do servidor não é permitido");
    }
    // A name of the network around is answered as one that does not exist.
    for url in [&local, "http://no-such-name.invalid"] {
        let made = id(&admin.post("/integrations", &integration(&router, url)).await.ok(201));
        let answer = fetch(&admin, &made, &json!({})).await;
        answer.refused(502, "provider_unreachable", "O servidor não respondeu");
    }
    assert!(outside.received_requests().await.unwrap().is_empty());
}

async fn scope(setup: Setup) {
    let setup = reaching(setup);
    let (server, outside) = (setup.start().await, outside().await);
    let admin = Api::admin(&setup, &server).await;
    let (mine, other) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = id(&admin.post("/integrations", &integration(&other, &outside.uri())).await.ok(201));
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let own = id(&bia.post("/integrations", &integration(&mine, &outside.uri())).await.ok(201));
    let refused = "Roteador fora do escopo";
    let foreign_body = integration(&other, &outside.uri());
    bia.post("/integrations", &foreign_body).await.refused(403, "router_out_of_scope", refused);
    bia.get(&format!("/integrations?routerId={other}")).await.refused(403, "router_out_of_scope", refused);
    let seen = bia.get("/integrations").await.ok(200);
    assert_eq!(
        seen["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(),
        std::slice::from_ref(&own)
    );
    let path = format!("/integrations/{foreign}");
    for answer in [
        bia.get(&path).await,
        bia.patch(&path, &json!({ "name": "x" })).await,
        bia.delete(&path).await,
        fetch(&bia, &foreign, &json!({})).await,
    ] {
        answer.refused(404, "not_found", "Integração não encontrada");
    }
    assert!(
        outside.received_requests().await.unwrap().is_empty(),
        "nothing was asked with another's credentials"
    );
    // Reading does not ask with the credentials.
    let read = json!([{ "resource": "routers", "actions": ["read"] }]);
    let reader = admin.member(&setup, &read, &[&mine]).await;
    fetch(&reader, &own, &json!({})).await.refused(403, "permission_denied", "Sem permissão");
}
