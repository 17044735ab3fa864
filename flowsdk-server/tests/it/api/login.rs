//! Login, refresh and logout (spec A 4.1, rulings H3, A1, A2).

use std::time::Duration;

use serde_json::json;

use crate::harness::api::ADMIN;
use crate::harness::{Api, Setup, everywhere};

everywhere!(logs_in, desk_login);
everywhere!(in process: wrong_credentials, refreshes, rotates_strictly, logs_out, limits_failures, limits_refreshes);

/// A logout voids the tokens of the moments before it.
const MOMENT: Duration = Duration::from_millis(1);

async fn logs_in(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let body = json!({ "email": "ADMIN@FlowSDK.local", "password": setup.admin_password() });
    let session = api.post("/api/auth/login", &body).await.ok(200);
    assert_eq!(session["permittedRoutes"], json!([]));
    let user = &session["user"];
    assert_eq!(
        (&user["email"], &user["userRole"], &user["group"]),
        (&json!(ADMIN), &json!("admin"), &json!(null))
    );
    assert!(!session.to_string().contains("$2"), "a hash is shown");

    // Spec A 4.1 rule 2, 5.1: `sub` is text and holds id and name, no role.
    for name in ["accessToken", "refreshToken"] {
        let token = session[name].as_str().unwrap();
        setup.plant(token);
        let claims = claims(token);
        let sub: serde_json::Value = serde_json::from_str(claims["sub"].as_str().unwrap()).unwrap();
        assert_eq!(sub, json!({ "id": user["id"], "name": user["name"] }));
        let lifetime = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
        assert_eq!(lifetime, if name == "accessToken" { 86_400 } else { 604_800 });
    }
    let me = api.with(session["accessToken"].as_str().unwrap()).get("/auth/me").await.ok(200);
    assert_eq!(me["user"]["email"], ADMIN);
}

fn claims(token: &str) -> serde_json::Value {
    use base64::Engine as _;
    let payload = token.split('.').nth(1).unwrap();
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// One message for an unknown address and a wrong password (spec A 4.1 rule 1).
async fn wrong_credentials(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let seventy_three = "a".repeat(73);
    for (email, password) in
        [(ADMIN, "errada"), ("nobody@example.com", "errada"), (ADMIN, &seventy_three), ("x", "y")]
    {
        let body = json!({ "email": email, "password": password });
        for path in ["/auth/login", "/auth/desk-login"] {
            api.post(path, &body).await.refused(401, "invalid_credentials", "Credenciais inválidas");
        }
    }
    let english = [("accept-language", "en-US,en;q=0.9")];
    let body = json!({ "email": ADMIN, "password": "errada" });
    api.json("POST", "/auth/login", &english, &body).await.refused(
        401,
        "invalid_credentials",
        "Invalid credentials",
    );
    for (body, fields) in [
        (json!({}), &["email", "password"][..]),
        (json!({ "email": 1, "password": null }), &["email", "password"]),
        (json!({ "email": ADMIN }), &["password"]),
    ] {
        assert_eq!(api.post("/auth/login", &body).await.invalid_fields(), fields);
    }
}

async fn refreshes(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let body = json!({ "email": ADMIN, "password": setup.admin_password() });
    let session = api.post("/auth/login", &body).await.ok(200);
    let (access, refresh) =
        (session["accessToken"].as_str().unwrap(), session["refreshToken"].as_str().unwrap());
    for _ in 0..3 {
        let pair = api.with(refresh).get("/auth/refresh").await.ok(200);
        assert_ne!((&pair["accessToken"], &pair["refreshToken"]), (&json!(access), &json!(refresh)));
        api.with(pair["accessToken"].as_str().unwrap()).get("/auth/me").await.ok(200);
    }
    api.get("/auth/refresh").await.refused(401, "token_missing", "Token não informado");
    api.with(access).get("/auth/refresh").await.refused(401, "token_invalid", "Token JWT inválido");
    api.with(refresh).get("/auth/me").await.refused(401, "token_invalid", "Token JWT inválido");

    // A HEAD makes no tokens.
    for token in [refresh, access] {
        let answer = api.with(token).send("HEAD", "/auth/refresh", &[], None).await;
        assert_eq!((answer.status, answer.headers["allow"].as_str()), (405, "GET"), "{answer:?}");
    }

    // Both are void after the logout, and the new ones of the same second are not.
    server.advance(MOMENT).await;
    api.with(access).send("POST", "/auth/logout", &[], None).await.ok(204);
    api.with(refresh).get("/auth/refresh").await.refused(401, "session_ended", "Sessão encerrada");
    server.advance(MOMENT).await;
    let again = api.post("/auth/login", &body).await.ok(200);
    api.with(again["accessToken"].as_str().unwrap()).get("/auth/me").await.ok(200);
    api.with(again["refreshToken"].as_str().unwrap()).get("/auth/refresh").await.ok(200);
}

/// Rulings A2: within the grace two tabs may refresh with one token. The replay after it is a test of the service.
async fn rotates_strictly(setup: Setup) {
    let setup = setup.with("REFRESH_ROTATION", "strict");
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let body = json!({ "email": ADMIN, "password": setup.admin_password() });
    let session = api.post("/auth/login", &body).await.ok(200);
    let first = api.with(session["refreshToken"].as_str().unwrap());
    assert_eq!(first.send("HEAD", "/auth/refresh", &[], None).await.status, 405, "and uses none up");
    let (one, other) =
        futures_util::future::join(first.get("/auth/refresh"), first.get("/auth/refresh")).await;
    for pair in [one.ok(200), other.ok(200)] {
        api.with(pair["refreshToken"].as_str().unwrap()).get("/auth/refresh").await.ok(200);
    }
}

async fn logs_out(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let (one, other) = (Api::admin(&setup, &server).await, Api::admin(&setup, &server).await);
    server.advance(MOMENT).await;
    one.send("POST", "/auth/logout", &[], None).await.ok(204);
    // A revocation instant of the user, not of the token (spec A 4.1 rule 4).
    for token in [&one, &other] {
        token.get("/users").await.refused(401, "session_ended", "Sessão encerrada");
        token.send("POST", "/auth/logout", &[], None).await.refused(401, "session_ended", "Sessão encerrada");
    }
    api.send("POST", "/auth/logout", &[], None).await.refused(401, "token_missing", "Token não informado");
}

/// Rulings H10: ten failures a minute, however many arrive at once; successes do not count.
async fn limits_failures(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let good = json!({ "email": ADMIN, "password": setup.admin_password() });
    for _ in 0..12 {
        api.post("/auth/login", &good).await.ok(200);
    }
    let bad = json!({ "email": "Admin@flowsdk.local", "password": "errada" });
    let tries = futures_util::future::join_all((0..30).map(|_| api.post("/auth/login", &bad))).await;
    let compared = tries.iter().filter(|answer| answer.status == 401).count();
    let limited: Vec<_> = tries.iter().filter(|answer| answer.status == 429).collect();
    assert_eq!((compared, limited.len()), (10, 20));
    let message = "Muitas tentativas; tente novamente mais tarde";
    limited[0].refused(429, "rate_limited", message);
    let headers = &limited[0].headers;
    assert_eq!((headers["ratelimit-limit"].as_str(), headers["ratelimit-remaining"].as_str()), ("10", "0"));
    assert_eq!(headers["ratelimit-reset"], headers["retry-after"]);
    let wait: u32 = limited[0].headers["retry-after"].parse().unwrap();
    assert!((1..=120).contains(&wait), "{wait}");
    api.post("/auth/login", &good).await.refused(429, "rate_limited", message);
    // Of that address only.
    let other = json!({ "email": "outra@example.com", "password": "errada" });
    api.post("/auth/login", &other).await.refused(401, "invalid_credentials", "Credenciais inválidas");
}

/// Rulings H15: refreshes of a user and of an address are limited, and what a limit refuses is not on record.
async fn limits_refreshes(setup: Setup) {
    let setup = setup.with("REFRESHES_PER_USER", "3").with("REFRESHES_PER_ADDRESS", "12");
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let body = json!({ "email": ADMIN, "password": setup.admin_password() });
    let session = api.post("/auth/login", &body).await.ok(200);
    let token = |session: &serde_json::Value| session["refreshToken"].as_str().unwrap().to_owned();
    let old = api.with(&token(&session));
    server.advance(MOMENT).await;
    api.with(session["accessToken"].as_str().unwrap()).send("POST", "/auth/logout", &[], None).await.ok(204);
    // An old token does not use up the refreshes of its user.
    for _ in 0..3 {
        old.get("/auth/refresh").await.refused(401, "session_ended", "Sessão encerrada");
    }
    let message = "Muitas tentativas; tente novamente mais tarde";
    let limited = old.get("/auth/refresh").await;
    limited.refused(429, "rate_limited", message);
    assert_eq!(limited.headers["ratelimit-limit"], "3");
    server.advance(MOMENT).await;
    let session = api.post("/auth/login", &body).await.ok(200);
    let present = api.with(&token(&session));
    for _ in 0..3 {
        present.get("/auth/refresh").await.ok(200);
    }
    present.get("/auth/refresh").await.refused(429, "rate_limited", message);
    // Eight requests have come from this address. What nobody has issued counts towards it, too.
    for _ in 0..4 {
        api.with("x").get("/auth/refresh").await.refused(401, "token_invalid", "Token JWT inválido");
    }
    let limited = api.get("/auth/refresh").await;
    limited.refused(429, "rate_limited", message);
    assert_eq!(limited.headers["ratelimit-limit"], "12");
    let admin = api.with(session["accessToken"].as_str().unwrap());
    let of = |status: &str| format!("action=TOKEN_REFRESH&status={status}");
    assert_eq!(super::building::records(&admin, &of("success"), 3).await.len(), 3);
    assert_eq!(super::building::records(&admin, &of("failure"), 3).await.len(), 3);
}

/// Rulings A8: an agent outside of their schedule gets no token at the desk; the studio lets them in.
async fn desk_login(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let password = "senha-do-agente";
    let mut ids = Vec::new();
    for name in ["dentro", "fora", "livre"] {
        let user = json!({ "name": name, "email": format!("{name}@example.com"), "phone": "5511999990000", "password": password });
        ids.push(admin.post("/users", &user).await.ok(201)["id"].as_str().unwrap().to_owned());
    }
    // Any minute of the week, and a minute that is not now, whenever the test runs.
    let always: Vec<_> =
        (0..7).map(|day| json!({ "weekday": day, "from": "00:00", "to": "00:00" })).collect();
    let weekday =
        jiff::Timestamp::from_millisecond(flowsdk_core::context::OpContext::system().now().as_millis())
            .unwrap()
            .in_tz("America/Sao_Paulo")
            .unwrap()
            .weekday()
            .to_sunday_zero_offset();
    let never = json!([{ "weekday": (weekday + 3) % 7, "from": "10:00", "to": "10:01" }]);
    for (user, schedule) in ids.iter().zip([json!(always), never]) {
        let router = setup.seeded.router.as_str();
        let agent = json!({ "routerId": router, "userId": user, "loginSchedule": schedule });
        admin.post("/agents", &agent).await.ok(201);
    }
    let api = Api::anonymous(&server);
    let login =
        |name: &str, password: &str| json!({ "email": format!("{name}@example.com"), "password": password });
    for name in ["dentro", "livre"] {
        let session = api.post("/auth/desk-login", &login(name, password)).await.ok(200);
        assert!(session["accessToken"].is_string() && session["permittedRoutes"] == json!([]));
    }
    let blocked = api.post("/auth/desk-login", &login("fora", password)).await;
    blocked.refused(403, "schedule_blocked", "Fora do horário de acesso");
    assert!(!blocked.body.contains("eyJ"));
    api.post("/auth/login", &login("fora", password)).await.ok(200);
    // Whoever does not know the password does not learn of the schedule.
    let stranger = api.post("/auth/desk-login", &login("fora", "errada")).await;
    stranger.refused(401, "invalid_credentials", "Credenciais inválidas");
}
