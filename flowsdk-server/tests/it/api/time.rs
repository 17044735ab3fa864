//! Rules that take minutes, days and months, with a clock that is turned by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::building::{records, router};
use crate::harness::api::ADMIN;
use crate::harness::{Api, Setup, everywhere};

everywhere!(in process:
    tokens_expire,
    a_used_refresh_token_counts_for_a_minute,
    failures_are_forgotten,
    old_records_are_deleted,
);

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn credentials(setup: &Setup) -> Value {
    json!({ "email": ADMIN, "password": setup.admin_password() })
}

async fn tokens_expire(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let session = api.post("/auth/login", &credentials(&setup)).await.ok(200);
    let with = |name: &str| api.with(session[name].as_str().unwrap());
    server.advance(DAY - SECOND).await;
    with("accessToken").get("/auth/me").await.ok(200);
    server.advance(SECOND).await;
    with("accessToken").get("/auth/me").await.refused(401, "token_invalid", "Token JWT inválido");
    with("refreshToken").get("/auth/refresh").await.ok(200);
    server.advance(6 * DAY).await;
    with("refreshToken").get("/auth/refresh").await.refused(401, "token_invalid", "Token JWT inválido");
}

/// Rulings A2: two tabs may refresh with one token within a minute; later use ends the user's sessions.
async fn a_used_refresh_token_counts_for_a_minute(setup: Setup) {
    let setup = setup.with("REFRESH_ROTATION", "strict");
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let session = api.post("/auth/login", &credentials(&setup)).await.ok(200);
    let first = api.with(session["refreshToken"].as_str().unwrap());
    let pair = first.get("/auth/refresh").await.ok(200);
    server.advance(MINUTE - SECOND).await;
    first.get("/auth/refresh").await.ok(200);
    server.advance(2 * SECOND).await;
    first.get("/auth/refresh").await.assert_error(401);
    let second = api.with(pair["accessToken"].as_str().unwrap());
    second.get("/auth/me").await.refused(401, "session_ended", "Sessão encerrada");
}

async fn failures_are_forgotten(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let bad = json!({ "email": ADMIN, "password": "errada" });
    for _ in 0..10 {
        api.post("/auth/login", &bad).await.refused(401, "invalid_credentials", "Credenciais inválidas");
    }
    let limited = api.post("/auth/login", &credentials(&setup)).await;
    limited.assert_error(429);
    let wait: u64 = limited.headers["retry-after"].parse().unwrap();
    server.advance(Duration::from_secs(wait)).await;
    api.post("/auth/login", &credentials(&setup)).await.ok(200);
}

async fn old_records_are_deleted(setup: Setup) {
    let setup = setup.with("AUDIT_LOG_RETENTION_DAYS", "30");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    router(&admin, "Loja").await;
    let made = records(&admin, "entityType=ROUTER", 1).await;
    server.advance(29 * DAY).await;
    let admin = Api::admin(&setup, &server).await;
    assert_eq!(records(&admin, "entityType=ROUTER", 1).await, made);
    server.advance(2 * DAY).await;
    let admin = Api::admin(&setup, &server).await;
    let logins = records(&admin, "action=LOGIN", 2).await;
    assert_eq!(logins.len(), 2, "the first one is gone: {logins:?}");
    assert_eq!(records(&admin, "entityType=ROUTER", 0).await, Vec::<Value>::new());
}
