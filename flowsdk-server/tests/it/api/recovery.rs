//! Password recovery (spec A 4.1 rules 5 and 6, rulings A3, H4).

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::harness::api::ADMIN;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(recovers);
everywhere!(in process: guesses, says_the_same_to_everybody);

/// Takes the messages of the webhook driver.
struct Inbox {
    url: String,
    messages: Arc<Mutex<Vec<Value>>>,
    _server: tokio::task::JoinHandle<()>,
}

impl Inbox {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/sms", listener.local_addr().unwrap());
        let messages = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&messages);
        let server = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut text = String::new();
                let mut part = [0; 4096];
                while !text.ends_with('}') {
                    let length = stream.read(&mut part).await.unwrap();
                    text.push_str(std::str::from_utf8(&part[..length]).unwrap());
                }
                let (_, body) = text.split_once("\r\n\r\n").unwrap();
                kept.lock().unwrap().push(serde_json::from_str(body).unwrap());
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(answer).await.unwrap();
            }
        });
        Self { url, messages, _server: server }
    }

    /// The code of the `n`th message.
    async fn code(&self, setup: &Setup, n: usize) -> String {
        let message = eventually("the code arrives", || {
            let message = self.messages.lock().unwrap().get(n - 1).cloned();
            async move { message }
        })
        .await;
        assert_eq!(message["purpose"], "password_recovery");
        let hex = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let text = message["text"].as_str().unwrap();
        let code = text.split(|c: char| !c.is_ascii_alphanumeric()).find(hex).unwrap().to_owned();
        setup.plant(&code);
        code
    }
}

async fn set_up(setup: Setup) -> (Setup, Inbox) {
    let inbox = Inbox::open().await;
    let setup = setup.with("SMS_DRIVER", "webhook").with("SMS_WEBHOOK_URL", &inbox.url);
    (setup.with("SMS_WEBHOOK_SECRET", "um-segredo-do-webhook"), inbox)
}

/// A user with a phone; the bootstrap administrator has none.
async fn bia(setup: &Setup, server: &crate::harness::Server) -> Api {
    let admin = Api::admin(setup, server).await;
    let user = json!({ "name": "Bia", "email": "bia@example.com", "phone": "5511999990000", "password": "senha-antiga" });
    admin.post("/users", &user).await.ok(201);
    Api::anonymous(server).login(setup, "bia@example.com", "senha-antiga").await
}

fn validation(code: &str, password: &str) -> Value {
    json!({ "email": "Bia@example.com", "code": code, "password": password })
}

async fn recovers(setup: Setup) {
    let (setup, inbox) = set_up(setup).await;
    let server = setup.start().await;
    let (api, session) = (Api::anonymous(&server), bia(&setup, &server).await);
    let ask = json!({ "email": "BIA@example.com" });
    assert_eq!(api.post("/auth/password-recovery", &ask).await.ok(202), json!({ "ok": true }));
    let old = inbox.code(&setup, 1).await;
    assert_eq!(inbox.messages.lock().unwrap()[0]["to"], "5511999990000");
    api.post("/auth/password-recovery", &ask).await.ok(202);
    let code = inbox.code(&setup, 2).await;
    if old != code {
        // The latest counts.
        let answer = api.post("/auth/password-recovery/validate", &validation(&old, "senha-nova-1")).await;
        answer.refused(400, "recovery_code_invalid", "Código inválido");
    }
    for bad in ["curta", &"a".repeat(73)] {
        let answer = api.post("/auth/password-recovery/validate", &validation(&code, bad)).await;
        assert_eq!(answer.invalid_fields(), ["password"]);
    }
    // Two at once: one changes the password.
    let (new, other) = (validation(&code, "senha-nova-1"), validation(&code, "senha-nova-2"));
    let (one, two) = futures_util::future::join(
        api.post("/auth/password-recovery/validate", &new),
        api.post("/auth/password-recovery/validate", &other),
    )
    .await;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400], "{one:?} {two:?}");
    let password = if one.status == 200 { "senha-nova-1" } else { "senha-nova-2" };
    // It ends the sessions; the old password and the used code are void.
    session.get("/auth/me").await.refused(401, "session_ended", "Sessão encerrada");
    let login = |password: &str| json!({ "email": "bia@example.com", "password": password });
    api.post("/auth/login", &login("senha-antiga")).await.refused(
        401,
        "invalid_credentials",
        "Credenciais inválidas",
    );
    api.post("/auth/login", &login(password)).await.ok(200);
    let again = api.post("/auth/password-recovery/validate", &validation(&code, "senha-nova-3")).await;
    again.refused(400, "recovery_code_invalid", "Código inválido");

    // Both ends of it are in the audit log (spec A 2.7, 6).
    let admin = Api::admin(&setup, &server).await;
    let log = eventually("the change is on record", || async {
        let log = admin.get("/audit-logs?action=PASSWORD_CHANGE").await.ok(200);
        (log["items"].as_array().unwrap().len() >= 3).then_some(log)
    })
    .await;
    let items = log["items"].as_array().unwrap();
    let success = items.iter().find(|item| item["status"] == "success").unwrap();
    assert_eq!((&success["actor"]["email"], &success["changes"]), (&json!("bia@example.com"), &json!(null)));
    let failure = items.iter().find(|item| item["status"] == "failure").unwrap();
    assert_eq!(failure["metadata"]["email"], "Bia@example.com");
    assert_eq!(failure["metadata"]["ip"], "127.0.0.1");
}

/// Five wrong tries end it, also when they come at once, and then the right code is of no use.
async fn guesses(setup: Setup) {
    let (setup, inbox) = set_up(setup).await;
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    bia(&setup, &server).await;
    api.post("/auth/password-recovery", &json!({ "email": "bia@example.com" })).await.ok(202);
    let code = inbox.code(&setup, 1).await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let guess = validation(wrong, "senha-nova-1");
    let tries = (0..5).map(|_| api.post("/auth/password-recovery/validate", &guess));
    for answer in futures_util::future::join_all(tries).await {
        answer.refused(400, "recovery_code_invalid", "Código inválido");
    }
    let answer = api.post("/auth/password-recovery/validate", &validation(&code, "senha-nova-1")).await;
    answer.refused(400, "recovery_code_invalid", "Código inválido");
    for bad in ["", "12345", "1234567", "zzzzzz", "00000\u{0}"] {
        let answer = api.post("/auth/password-recovery/validate", &validation(bad, "senha-nova-1")).await;
        answer.assert_error(400);
    }
}

async fn says_the_same_to_everybody(setup: Setup) {
    let (setup, inbox) = set_up(setup).await;
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    bia(&setup, &server).await;
    for email in ["bia@example.com", "nobody@example.com", ADMIN] {
        let answer = api.post("/auth/password-recovery", &json!({ "email": email })).await;
        assert_eq!(answer.ok(202), json!({ "ok": true }), "{email}");
    }
    inbox.code(&setup, 1).await;
    assert_eq!(inbox.messages.lock().unwrap().len(), 1);
    // Rulings H10: three in 15 minutes, for an unknown address as for a known one.
    for email in ["bia@example.com", "nobody@example.com"] {
        for _ in 0..2 {
            api.post("/auth/password-recovery", &json!({ "email": email })).await.ok(202);
        }
        let answer = api.post("/auth/password-recovery", &json!({ "email": email })).await;
        answer.refused(429, "rate_limited", "Muitas tentativas; tente novamente mais tarde");
        assert_eq!(answer.headers["ratelimit-limit"], "3");
        assert_eq!(answer.headers["ratelimit-remaining"], "0");
        assert_eq!(answer.headers["ratelimit-reset"], answer.headers["retry-after"]);
        let wait: u32 = answer.headers["retry-after"].parse().unwrap();
        assert!((1..=1_800).contains(&wait), "{wait}");
    }
}
