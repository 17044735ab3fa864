//! The audit log (spec A 2.7, 4.10, 6, rulings A11).

use serde_json::{Value, json};

use crate::harness::api::ADMIN;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(what_is_recorded, nothing_is_lost_at_the_end);
everywhere!(in process: filters_and_pages, scoped_reads);

/// Waits for this many records that match.
async fn records(api: &Api, query: &str, count: usize) -> Vec<Value> {
    eventually("the records are there", || async {
        let log = api.get(&format!("/api/audit-logs?limit=200&{query}")).await.ok(200);
        let items = log["items"].as_array().unwrap().clone();
        (items.len() >= count).then_some(items)
    })
    .await
}

async fn what_is_recorded(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let bad = json!({ "email": "Nobody@example.com", "password": "errada" });
    let agent = [("user-agent", "Studio/1.0")];
    api.json("POST", "/auth/login", &agent, &bad).await.assert_error(401);
    let admin = Api::admin(&setup, &server).await;
    let me = admin.get("/auth/me").await.ok(200)["user"].clone();
    let user = json!({ "name": "Bia", "email": "bia@example.com", "phone": "5511999990000", "password": "senha-segura" });
    let user = admin.post("/users", &user).await.ok(201);
    let path = format!("/users/{}", user["id"].as_str().unwrap());
    admin.patch(&path, &json!({ "name": "Beatriz", "password": "outra-senha-segura" })).await.ok(200);
    let same = json!({ "name": "Beatriz", "email": "bia@example.com", "phone": "5522999990000", "userRole": "member", "groupId": null });
    admin.put(&path, &same).await.ok(200);
    admin.delete(&path).await.ok(204);

    let logins = records(&admin, "action=LOGIN", 2).await;
    let (success, failure) = (&logins[0], &logins[1]);
    assert_eq!((&success["status"], &success["actorId"]), (&json!("success"), &me["id"]));
    assert_eq!(success["actor"], json!({ "id": me["id"], "name": me["name"], "email": ADMIN }));
    assert_eq!((&failure["status"], &failure["actorId"]), (&json!("failure"), &json!(null)));
    let metadata = json!({ "ip": "127.0.0.1", "userAgent": "Studio/1.0", "email": "Nobody@example.com" });
    assert_eq!((&failure["metadata"], &failure["changes"]), (&metadata, &json!(null)));

    let changes =
        records(&admin, &format!("entityType=USER&actorId={}", me["id"].as_str().unwrap()), 4).await;
    let of_user: Vec<_> = changes.iter().filter(|item| item["entityId"] == user["id"]).collect();
    let actions: Vec<_> = of_user.iter().map(|item| item["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["DELETE", "UPDATE", "UPDATE", "CREATE"]);
    assert_eq!(of_user[1]["changes"], json!({ "phone": { "from": "5511999990000", "to": "5522999990000" } }));
    let hidden = json!({ "from": "***", "to": "***" });
    let changed = json!({ "name": { "from": "Bia", "to": "Beatriz" }, "password": hidden });
    assert_eq!(of_user[2]["changes"], changed);
    assert_eq!(of_user[3]["changes"]["email"], "bia@example.com");
    assert_eq!(of_user[0]["changes"]["phone"], "5522999990000");
    for record in &of_user {
        let text = record.to_string();
        for secret in ["asswordHash", "$2", "senha-segura"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(record["routerId"].is_null(), "{text}");
    }

    // API clients: created, changed, rotated, deleted; the hash is in none of them.
    let made = admin.post("/api-clients", &json!({ "name": "CRM" })).await.ok(201);
    setup.plant(made["token"].as_str().unwrap());
    let path = format!("/api-clients/{}", made["id"].as_str().unwrap());
    admin.patch(&path, &json!({ "active": false })).await.ok(200);
    let rotated = admin.send("POST", &format!("{path}/rotate"), &[], None).await.ok(200);
    setup.plant(rotated["token"].as_str().unwrap());
    admin.delete(&path).await.ok(204);
    let clients = records(&admin, "entityType=API_CLIENT", 4).await;
    let actions: Vec<_> = clients.iter().map(|item| item["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["DELETE", "UPDATE", "UPDATE", "CREATE"]);
    assert_eq!(clients[2]["changes"], json!({ "active": { "from": true, "to": false } }));
    assert_eq!(clients[1]["changes"], json!({ "token": hidden }));
    assert!(clients.iter().all(|record| !record.to_string().contains("okenHash")));

    let session = json!({ "email": ADMIN, "password": setup.admin_password() });
    let session = api.post("/auth/login", &session).await.ok(200);
    api.with(session["refreshToken"].as_str().unwrap()).get("/auth/refresh").await.ok(200);
    assert_eq!(records(&admin, "action=TOKEN_REFRESH", 1).await[0]["actorId"], me["id"]);
    admin.send("POST", "/auth/logout", &[], None).await.ok(204);
    let admin = Api::admin(&setup, &server).await;
    assert_eq!(records(&admin, "action=LOGOUT", 1).await[0]["actorId"], me["id"]);
}

async fn filters_and_pages(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    for n in 0..5 {
        let user = json!({ "name": "U", "email": format!("u{n}@example.com"), "phone": "5511999990000", "password": "senha-segura" });
        admin.post("/users", &user).await.ok(201);
    }
    let all = records(&admin, "action=CREATE", 5).await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/audit-logs?action=CREATE&limit=2{cursor}")).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, all);
    let at = |n: usize| all[n]["createdAt"].as_str().unwrap().to_owned();
    let between = records(&admin, &format!("action=CREATE&from={}&to={}", at(3), at(1)), 3).await;
    assert!(
        between.len() >= 3
            && between.iter().all(|item| item["createdAt"].as_str().unwrap() <= at(1).as_str())
    );
    for query in ["status=failure&action=CREATE", "entityType=FLOW", "actorId=cnobody", "routerId=cnothing"] {
        assert_eq!(admin.get(&format!("/audit-logs?{query}")).await.ok(200)["items"], json!([]), "{query}");
    }
    for (query, fields) in [
        ("action=READ", &["action"][..]),
        ("entityType=user", &["entityType"]),
        ("status=ok", &["status"]),
        ("from=yesterday&to=2026-13-01T00:00:00Z", &["from", "to"]),
        ("limit=201&cursor=%27", &["cursor", "limit"]),
    ] {
        assert_eq!(admin.get(&format!("/audit-logs?{query}")).await.invalid_fields(), fields, "{query}");
    }
}

/// Groups with routers see the entries of these routers only; entries without a router are not theirs.
async fn scoped_reads(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    records(&admin, "action=LOGIN", 1).await;
    let permissions = json!([{ "resource": "audit_logs", "actions": ["read"] }]);
    let router = setup.seeded.router.as_str();
    let (scoped, free) =
        (admin.member(&setup, &permissions, &[router]).await, admin.member(&setup, &permissions, &[]).await);
    assert_eq!(scoped.get("/audit-logs").await.ok(200), json!({ "items": [], "nextCursor": null }));
    assert_eq!(scoped.get(&format!("/audit-logs?routerId={router}")).await.ok(200)["items"], json!([]));
    let refused = scoped.get("/audit-logs?routerId=cnothing").await;
    refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    assert!(!records(&free, "action=LOGIN", 1).await.is_empty());
}

/// What was recorded a moment before the end is there at the next start.
async fn nothing_is_lost_at_the_end(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let names: Vec<_> = (0..40).map(|n| json!({ "name": format!("c{n}") })).collect();
    let made =
        futures_util::future::join_all(names.iter().map(|body| admin.post("/api-clients", body))).await;
    for answer in &made {
        setup.plant(answer.ok(201)["token"].as_str().unwrap());
    }
    assert!(server.stop().await.0.success());
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let log = admin.get("/audit-logs?entityType=API_CLIENT&limit=200").await.ok(200);
    assert_eq!(log["items"].as_array().unwrap().len(), 40);
}
