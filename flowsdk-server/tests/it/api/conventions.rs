//! What holds for every route (rulings H1, H2, H5, H10, H12).

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Api, Setup, everywhere, http};

everywhere!(errors);
everywhere!(in process: bodies, requests_a_second, callers_who_name_no_language);

async fn callers_who_name_no_language(setup: Setup) {
    let setup = setup.with("DEFAULT_LANGUAGE", "en");
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    api.get("/nothing").await.refused(404, "not_found", "Not found");
    let portuguese = [("accept-language", "pt-BR")];
    api.send("GET", "/nothing", &portuguese, None).await.refused(404, "not_found", "Não encontrado");
}

async fn errors(setup: Setup) {
    let server = setup.start().await;
    let (admin, api) = (Api::admin(&setup, &server).await, Api::anonymous(&server));
    for path in ["/nothing", "/api/nothing", "/api", "/api/", "/api/api/users", "/users/a/b", "/auth"] {
        admin.get(path).await.refused(404, "not_found", "Não encontrado");
    }
    let answer = admin.delete("/users").await;
    answer.refused(405, "method_not_allowed", "Método não permitido");
    assert!(answer.headers["allow"].contains("POST"), "{answer:?}");
    let english = [("accept-language", "en")];
    let answer = api.send("GET", "/nothing", &english, None).await;
    answer.refused(404, "not_found", "Not found");
    assert_eq!(answer.json()["requestId"].as_str().unwrap(), answer.headers["x-request-id"]);
    let answer = api.send("GET", "/users", &[("x-request-id", "mine")], None).await;
    assert_ne!(answer.headers["x-request-id"], "mine");
    // The twin is the same route.
    assert_eq!(admin.get("/api/users").await.ok(200), admin.get("/users").await.ok(200));
    // Browsers of other origins: tokens, no cookies.
    let asks = [
        ("origin", "https://studio.example"),
        ("access-control-request-method", "PATCH"),
        ("access-control-request-headers", "authorization,content-type,idempotency-key"),
    ];
    let preflight = http::request(server.addr, "OPTIONS", "/api/users/x", &asks).await.unwrap();
    assert_eq!(preflight.status, 200, "{preflight:?}");
    assert!(
        preflight.headers["access-control-allow-methods"].contains("PATCH")
            || preflight.headers["access-control-allow-methods"] == "*"
    );
    let allowed = preflight.headers["access-control-allow-headers"].to_lowercase();
    for name in ["authorization", "content-type", "idempotency-key"] {
        assert!(allowed.contains(name), "{allowed}");
    }
    let seen = http::get(server.addr, "/api/users", &asks[..1]).await;
    assert!(
        seen.headers["access-control-expose-headers"].to_lowercase().contains("x-request-id"),
        "{seen:?}"
    );
}

async fn bodies(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let json = ("content-type", "application/json");
    for kind in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
    {
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        let answer = admin.send("POST", "/groups", &headers, Some(b"{}")).await;
        answer.refused(415, "unsupported_media_type", "O conteúdo deve ser application/json");
    }
    for body in ["", "{", "{\"name\":}", "nul", "{\"name\":\"a\"}x", "\u{feff}{}", "{\"name\":\"\\ud800\"}"] {
        admin.send("POST", "/groups", &[json], Some(body.as_bytes())).await.assert_error(400);
    }
    admin.send("POST", "/groups", &[json], Some(b"{\"name\":\"\xff\"}")).await.assert_error(400);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    admin.send("POST", "/groups", &[json], Some(deep.as_bytes())).await.assert_error(400);
    let charset = [("content-type", "application/json; charset=utf-8")];
    admin.send("POST", "/groups", &charset, Some(b"{\"name\":\"G\"}")).await.ok(201);
    // 1 MiB, no more, whether it says so beforehand or not.
    let large = json!({ "name": "a".repeat(1024 * 1024) }).to_string();
    admin.send("POST", "/groups", &[json], Some(large.as_bytes())).await.refused(
        413,
        "payload_too_large",
        "O corpo pode ter no máximo 1048576 bytes",
    );
    // Also to those who look at the answer only when they have sent everything.
    let head = format!(
        "POST /groups HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        admin.token.as_deref().unwrap(),
        8 << 20
    );
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; 8 << 20]).await.expect("nobody hangs up in the middle");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let names = "a".repeat(300);
    assert_eq!(admin.post("/groups", &json!({ "name": names })).await.invalid_fields(), ["name"]);
}

/// 50 a second and principal, in bursts of 100; 0 switches it off.
async fn requests_a_second(setup: Setup) {
    let setup = setup.with("API_REQUESTS_PER_SECOND", "1").with("API_BURST", "5");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let answers = futures_util::future::join_all((0..20).map(|_| admin.get("/auth/me"))).await;
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    assert!((5..=7).contains(&good), "{good}");
    let limited = answers.iter().find(|answer| answer.status == 429).unwrap();
    limited.refused(429, "rate_limited", "Muitas requisições; tente novamente mais tarde");
    assert_eq!(
        (limited.headers["retry-after"].as_str(), limited.headers["ratelimit-remaining"].as_str()),
        ("1", "0")
    );
    assert_eq!(limited.headers["ratelimit-limit"], "5");
    assert!(limited.headers.contains_key("ratelimit-reset"));
    // Another principal is another bucket.
    let other = Api::admin(&setup, &server).await;
    assert_eq!(other.get("/auth/me").await.status, 429, "the same principal, another token");
}
