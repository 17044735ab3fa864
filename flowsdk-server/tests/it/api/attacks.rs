//! What must be refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::building::router;
use crate::harness::{Api, Server, Setup, everywhere, http};

everywhere!(sizes, imports_at_once);
everywhere!(in process: bodies_of_unknown_callers_are_small, forged_tokens, injections, mass_assignment);

/// Signs what the server never signed. Its claims are those of a token of the server, by the server's clock.
struct Forge {
    access: String,
    refresh: String,
    claims: Value,
}

impl Forge {
    async fn of(setup: &Setup, server: &Server) -> Self {
        let admin = Api::admin(setup, server).await;
        let token = admin.token.expect("a token");
        let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims = serde_json::from_slice(&payload).unwrap();
        let secret = |name: &str| setup.value(name).to_owned();
        Self { access: secret("JWT_ACCESS_SECRET"), refresh: secret("JWT_REFRESH_SECRET"), claims }
    }

    fn sign(&self, algorithm: Algorithm, claims: &Value, secret: &str) -> String {
        // Another part of the process may have installed it.
        let _installed = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let key = EncodingKey::from_secret(secret.as_bytes());
        jsonwebtoken::encode(&Header::new(algorithm), claims, &key).unwrap()
    }

    fn with(&self, change: impl Fn(&mut Value)) -> String {
        let mut claims = self.claims.clone();
        change(&mut claims);
        self.sign(Algorithm::HS256, &claims, &self.access)
    }
}

async fn forged_tokens(setup: Setup) {
    let server = setup.start().await;
    let (forge, api) = (Forge::of(&setup, &server).await, Api::anonymous(&server));
    let good = forge.with(|_| ());
    api.with(&good).get("/users").await.ok(200);
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let payload = good.split('.').nth(1).unwrap();
    let none = |name: &str| format!("{}.{payload}.", part(json!({ "alg": name, "typ": "JWT" })));
    let sub = |text: &str| forge.with(|claims| claims["sub"] = json!(text));
    let forged = [
        ("alg none", none("none")),
        ("alg None", none("NONE")),
        ("no alg", format!("{}.{payload}.", part(json!({ "typ": "JWT" })))),
        ("HS384", forge.sign(Algorithm::HS384, &forge.claims, &forge.access)),
        ("HS512", forge.sign(Algorithm::HS512, &forge.claims, &forge.access)),
        (
            "alg swapped after signing",
            format!("{}.{}", part(json!({ "alg": "HS512" })), &good[good.find('.').unwrap() + 1..]),
        ),
        ("the other secret", forge.sign(Algorithm::HS256, &forge.claims, &forge.refresh)),
        ("no secret", forge.sign(Algorithm::HS256, &forge.claims, "")),
        ("expired", forge.with(|claims| claims["exp"] = json!(claims["iat"].as_i64().unwrap() - 1))),
        ("no exp", forge.with(|claims| drop(claims.as_object_mut().unwrap().remove("exp")))),
        ("exp is text", forge.with(|claims| claims["exp"] = json!("9999999999"))),
        ("sub is no JSON", sub("admin")),
        ("sub is no object", sub("[1]")),
        ("sub without id", sub(r#"{"name":"Administrador"}"#)),
        ("id is a number", sub(r#"{"id":1,"name":"a"}"#)),
        ("id is empty", sub(r#"{"id":"","name":"a"}"#)),
        ("sub is an object", forge.with(|claims| claims["sub"] = json!({ "id": "x", "name": "y" }))),
        (
            "an API client by JWT",
            forge.with(|claims| {
                let mut sub: Value = serde_json::from_str(claims["sub"].as_str().unwrap()).unwrap();
                sub["kind"] = json!("api_client");
                claims["sub"] = json!(sub.to_string());
            }),
        ),
    ];
    for (name, token) in forged {
        let answer = api.with(&token).get("/users").await;
        assert_eq!(
            (answer.status, answer.json()["message"].as_str()),
            (401, Some("Token JWT inválido")),
            "{name}"
        );
    }
    let unknown = sub(r#"{"id":"cnobody","name":"a"}"#);
    api.with(&unknown).get("/users").await.refused(401, "principal_unknown", "Usuário não encontrado");
    // A refresh token by itself signs nothing in, and the reverse.
    let refresh = forge.sign(Algorithm::HS256, &forge.claims, &forge.refresh);
    api.with(&refresh).get("/users").await.refused(401, "token_invalid", "Token JWT inválido");
    api.with(&good).get("/auth/refresh").await.refused(401, "token_invalid", "Token JWT inválido");
}

async fn sizes(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let header = "x".repeat(100 * 1024);
    let answer = http::request(server.addr, "GET", "/users", &[("x-large", &header)]).await;
    assert!(answer.is_none_or(|answer| answer.status == 431), "a head of 100 KB");
    let path = format!("/users?cursor={}", "a".repeat(20_000));
    assert_eq!(admin.get(&path).await.invalid_fields(), ["cursor"]);
    // 100 MB are refused without being read, and the server lives.
    let body = vec![b' '; 100 * 1024 * 1024];
    let json = [("content-type", "application/json")];
    let answer = admin.send("POST", "/groups", &json, Some(&body)).await;
    answer.refused(413, "payload_too_large", "O corpo pode ter no máximo 1048576 bytes");
    admin.get("/auth/me").await.ok(200);
    let peak = peak(&server);
    assert!(peak < 300_000, "{peak} kB");
}

/// Nobody needs a token to send these.
async fn bodies_of_unknown_callers_are_small(setup: Setup) {
    let server = setup.start().await;
    let body = format!(r#"{{"email":"{}","password":"x"}}"#, "a".repeat(16 << 10));
    let json = [("content-type", "application/json")];
    for path in
        ["/auth/login", "/auth/desk-login", "/auth/password-recovery", "/auth/password-recovery/validate"]
    {
        let answer = Api::anonymous(&server).send("POST", path, &json, Some(body.as_bytes())).await;
        answer.refused(413, "payload_too_large", "O corpo pode ter no máximo 16384 bytes");
    }
}

/// The most memory that the server has had, in kB.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Eight files of 9 MB of the smallest values, at once: in a field that nobody knows, and where flows should be.
async fn imports_at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let path = format!("/routers/{}/import", router(&admin, "R").await);
    let values = r#"{"a":{"b":{}}},"#.repeat(600_000);
    for field in ["x", "flows"] {
        let body = format!(r#"{{"format":"flowsdk","formatVersion":1,"{field}":[{values}{{}}]}}"#);
        let json = [("content-type", "application/json")];
        let imports = (0..8).map(|_| admin.send("POST", &path, &json, Some(body.as_bytes())));
        for answer in futures_util::future::join_all(imports).await {
            assert_eq!(answer.invalid_fields(), [""], "too many values");
        }
    }
    let peak = peak(&server);
    assert!(peak < 400_000, "{peak} kB");
}

async fn injections(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let texts = [
        "' OR 1=1 --",
        "\"; DROP TABLE user_account; --",
        "%",
        "_",
        "\\",
        "${7*7}",
        "<script>",
        "\u{202e}x",
        "😀",
    ];
    for text in texts {
        let group = admin.post("/groups", &json!({ "name": text })).await.ok(201);
        assert_eq!(group["name"], text);
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in ["users", "groups", "api-clients", "user-devices", "routers"] {
            admin.get(&format!("/{path}/{encoded}")).await.assert_error(404);
        }
        let page = admin.get(&format!("/audit-logs?actorId={encoded}")).await;
        assert!(page.status == 400 || page.ok(200)["items"] == json!([]), "{page:?}");
    }
    admin.get("/auth/me").await.ok(200);
    for path in ["/users/../groups", "/users/%2e%2e/groups", "//users", "/users/%", "/users/%ff"] {
        let answer = admin.get(path).await;
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        answer.assert_error(answer.status);
    }
}

async fn mass_assignment(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let permissions = json!([{ "resource": "users", "actions": ["read", "write", "admin"] }]);
    let bia = admin.member(&setup, &permissions, &[]).await;
    let me = bia.get("/auth/me").await.ok(200)["user"]["id"].as_str().unwrap().to_owned();
    for body in
        [json!({ "userRole": "admin" }), json!({ "name": "B", "role": "admin" }), json!({ "groupId": null })]
    {
        let answer = bia.patch(&format!("/users/{me}"), &body).await;
        answer.refused(403, "admin_only", "Acesso restrito a administradores");
    }
    let device = json!({ "token": "t", "platform": "ios", "userId": "cother" });
    assert_eq!(bia.post("/user-devices", &device).await.invalid_fields(), ["userId"]);
    for field in ["id", "createdAt", "loggedOutAt", "passwordHash"] {
        let answer = admin.patch(&format!("/users/{me}"), &json!({ field: "x" })).await;
        assert_eq!(answer.invalid_fields(), [field]);
    }
    for field in ["tokenHash", "lastUsedAt", "token"] {
        let answer = admin.post("/api-clients", &json!({ "name": "x", field: "x" })).await;
        assert_eq!(answer.invalid_fields(), [field]);
    }
    assert_eq!(bia.get("/auth/me").await.ok(200)["user"]["userRole"], "member");
}
