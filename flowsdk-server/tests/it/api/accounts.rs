//! Users, groups, API clients and devices (spec A 2.1, 4.2, rulings H8, H9, H13).

use serde_json::{Value, json};

use crate::harness::api::ADMIN;
use crate::harness::{Api, Setup, everywhere};

everywhere!(users, groups, devices);
everywhere!(in process: users_that_cannot_be, the_last_administrator, pages, once_however_often);

fn person(name: &str) -> Value {
    json!({ "name": name, "email": format!("{name}@example.com"), "phone": "5511999990000", "password": "senha-segura" })
}

async fn users(setup: Setup) {
    let server = setup.start().await;
    let (admin, api) = (Api::admin(&setup, &server).await, Api::anonymous(&server));
    let created = admin.post("/users", &person("Bia")).await;
    let user = created.ok(201);
    let path = format!("/users/{}", user["id"].as_str().unwrap());
    assert!(created.headers["location"].ends_with(&path), "{created:?}");
    assert_eq!(user["email"], "bia@example.com", "addresses are kept in lower case");
    assert_eq!(
        (&user["userRole"], &user["groupId"], &user["group"]),
        (&json!("member"), &json!(null), &json!(null))
    );
    assert_eq!(admin.get(&path).await.ok(200), user);
    assert_eq!(user.as_object().unwrap().len(), 9, "no password, no hash: {user}");

    // A changed password ends the sessions (rulings A3).
    let bia = api.login(&setup, "bia@example.com", "senha-segura").await;
    bia.get("/auth/me").await.ok(200);
    admin.patch(&path, &json!({ "password": "outra-senha-segura" })).await.ok(200);
    bia.get("/auth/me").await.refused(401, "session_ended", "Sessão encerrada");
    let bia = api.login(&setup, "bia@example.com", "outra-senha-segura").await;

    // PUT replaces, PATCH changes what it names.
    let replaced = json!({ "name": "Beatriz", "email": "beatriz@example.com", "phone": "5511999990000", "userRole": "member", "groupId": null });
    let put = admin.put(&path, &replaced).await.ok(200);
    assert_eq!(
        (&put["name"], &put["email"], &put["groupId"]),
        (&json!("Beatriz"), &json!("beatriz@example.com"), &json!(null))
    );
    bia.get("/auth/me").await.ok(200);
    let patched = admin.patch(&path, &json!({ "phone": "5521999990000" })).await.ok(200);
    assert_eq!((&patched["name"], &patched["phone"]), (&json!("Beatriz"), &json!("5521999990000")));

    admin.delete(&path).await.ok(204);
    admin.delete(&path).await.refused(404, "not_found", "Usuário não encontrado");
    bia.get("/auth/me").await.refused(401, "principal_unknown", "Usuário não encontrado");
    let gone = json!({ "email": "beatriz@example.com", "password": "outra-senha-segura" });
    api.post("/auth/login", &gone).await.refused(401, "invalid_credentials", "Credenciais inválidas");
}

async fn users_that_cannot_be(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let with = |field: &str, value: Value| {
        let mut body = person("Caio");
        body[field] = value;
        body
    };
    for (body, fields) in [
        (json!({}), &["email", "name", "password", "phone"][..]),
        (json!([]), &[""]),
        (with("name", json!("")), &["name"]),
        (with("email", json!("caio")), &["email"]),
        (with("phone", json!(5511)), &["phone"]),
        (with("password", json!("curta")), &["password"]),
        (with("password", json!("a".repeat(73))), &["password"]),
        (with("password", json!("ã".repeat(37))), &["password"]),
        (with("userRole", json!("root")), &["userRole"]),
        (with("groupId", json!("")), &["groupId"]),
        (with("isAdmin", json!(true)), &["isAdmin"]),
        (with("name", json!("Ca\u{0}io")), &["name"]),
    ] {
        assert_eq!(admin.post("/users", &body).await.invalid_fields(), fields, "{body}");
    }
    let nobody = with("groupId", json!("cnothing"));
    admin.post("/users", &nobody).await.refused(422, "group_unknown", "Grupo não encontrado");
    let taken = with("email", json!("ADMIN@flowsdk.local"));
    admin.post("/users", &taken).await.refused(409, "email_taken", "E-mail já cadastrado");
    let caio = admin.post("/users", &person("Caio")).await.ok(201);
    let path = format!("/users/{}", caio["id"].as_str().unwrap());
    admin.patch(&path, &json!({ "email": ADMIN })).await.refused(409, "email_taken", "E-mail já cadastrado");
    for unknown in ["/users/cnothing", "/users/%20", "/users/x'%20OR%201=1--", "/users/%00"] {
        admin.get(unknown).await.assert_error(404);
    }
    // Of many at once with one address one is created.
    let same = futures_util::future::join_all((0..8).map(|_| admin.post("/users", &SAME))).await;
    let mut statuses: Vec<_> = same.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
}

static SAME: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| person("Duda"));

async fn the_last_administrator(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let me = admin.get("/auth/me").await.ok(200)["user"]["id"].as_str().unwrap().to_owned();
    let message = "Deve restar ao menos um administrador";
    let (mine, demoted) = (format!("/users/{me}"), json!({ "userRole": "member" }));
    admin.delete(&mine).await.refused(409, "last_administrator", message);
    admin.patch(&mine, &demoted).await.refused(409, "last_administrator", message);
    let mut other = person("Eva");
    other["userRole"] = json!("admin");
    let eva = admin.post("/users", &other).await.ok(201)["id"].as_str().unwrap().to_owned();
    // Two that demote each other at once: one stays.
    let theirs = format!("/users/{eva}");
    let (one, two) =
        futures_util::future::join(admin.patch(&mine, &demoted), admin.patch(&theirs, &demoted)).await;
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert!(statuses == [200, 409] || statuses == [200, 403], "{one:?} {two:?}");
}

async fn groups(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = setup.seeded.router.as_str();
    let permissions = json!([{ "resource": "sessions", "actions": ["read", "write"] }]);
    let body = json!({ "name": "Suporte", "permissions": permissions, "routerIds": [router] });
    let group = admin.post("/groups", &body).await.ok(201);
    assert_eq!((&group["permissions"], &group["routerIds"]), (&permissions, &json!([router])));
    let path = format!("/groups/{}", group["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.ok(200), group);
    let mut user = person("Bia");
    user["groupId"] = group["id"].clone();
    let user = admin.post("/users", &user).await.ok(201);
    assert_eq!(user["group"]["name"], "Suporte");
    let bare = admin.post("/groups", &json!({ "name": "Vazio" })).await.ok(201);
    assert_eq!((&bare["permissions"], &bare["routerIds"]), (&json!([]), &json!([])));
    for (body, fields) in [
        (json!({}), &["name"][..]),
        (
            json!({ "name": "G", "permissions": [{ "resource": "all", "actions": ["read"] }] }),
            &["permissions[0].resource"],
        ),
        (
            json!({ "name": "G", "permissions": [{ "resource": "flows", "actions": ["own"] }] }),
            &["permissions[0].actions[0]"],
        ),
        (json!({ "name": "G", "permissions": {} , "routerIds": [""]}), &["permissions", "routerIds[0]"]),
    ] {
        assert_eq!(admin.post("/groups", &body).await.invalid_fields(), fields, "{body}");
    }
    // When the group is deleted, its users have none (spec A 2.1).
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Grupo não encontrado");
    let user = admin.get(&format!("/users/{}", user["id"].as_str().unwrap())).await.ok(200);
    assert_eq!((&user["groupId"], &user["group"]), (&json!(null), &json!(null)));
}

/// Rulings H9: newest first, stable while rows are added.
async fn pages(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let mut made = Vec::new();
    for n in 0..7 {
        let group = admin.post("/groups", &json!({ "name": format!("g{n}") })).await.ok(201);
        made.insert(0, group["id"].clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/groups?limit=3{cursor}")).await.ok(200);
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].clone()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
        admin.post("/groups", &json!({ "name": "depois" })).await.ok(201);
    }
    assert_eq!(seen, made);
    let all = admin.get("/groups").await.ok(200);
    assert_eq!((all["items"].as_array().unwrap().len(), &all["nextCursor"]), (9, &json!(null)));
    for (query, field) in
        [("limit=0", "limit"), ("limit=201", "limit"), ("limit=x", "limit"), ("cursor=x", "cursor")]
    {
        assert_eq!(admin.get(&format!("/groups?{query}")).await.invalid_fields(), [field]);
    }
    let both = admin.get("/groups?limit=x&cursor=x").await.invalid_fields();
    assert_eq!(both, ["cursor", "limit"], "every problem at once");
}

async fn devices(setup: Setup) {
    let server = setup.start().await;
    let (admin, api) = (Api::admin(&setup, &server).await, Api::anonymous(&server));
    let device = admin.post("/user-devices", &json!({ "token": "push-1", "platform": "ios" })).await.ok(201);
    let path = format!("/user-devices/{}", device["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.ok(200), device);
    let bia = admin.member(&setup, &json!([]), &[]).await;
    for answer in
        [bia.get(&path).await, bia.delete(&path).await, bia.patch(&path, &json!({ "platform": "web" })).await]
    {
        answer.refused(404, "not_found", "Dispositivo não encontrado");
    }
    assert_eq!(bia.get("/user-devices").await.ok(200)["items"], json!([]));
    // A device that changes hands changes its user.
    bia.post("/user-devices", &json!({ "token": "push-1", "platform": "ios" })).await.ok(201);
    admin.get(&path).await.refused(404, "not_found", "Dispositivo não encontrado");
    assert_eq!(bia.get("/user-devices").await.ok(200)["items"].as_array().unwrap().len(), 1);
    // A machine has no devices.
    let made = admin.post("/api-clients", &json!({ "name": "CRM" })).await.ok(201);
    setup.plant(made["token"].as_str().unwrap());
    let crm = api.with(made["token"].as_str().unwrap());
    crm.get("/user-devices").await.refused(403, "user_only", "Acesso restrito a usuários");
    crm.send("POST", "/auth/logout", &[], None).await.refused(403, "user_only", "Acesso restrito a usuários");
}

/// Rulings H13.
async fn once_however_often(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let key = [("idempotency-key", "pedido-1")];
    let body = person("Bia");
    let answers =
        futures_util::future::join_all((0..6).map(|_| admin.json("POST", "/users", &key, &body))).await;
    let first = answers[0].ok(201);
    assert!(answers.iter().all(|answer| answer.ok(201) == first), "{answers:?}");
    let replayed =
        answers.iter().filter(|answer| answer.headers.contains_key("idempotency-replayed")).count();
    assert_eq!(replayed, 5);
    let other = admin.json("POST", "/users", &key, &person("Caio")).await;
    other.refused(409, "idempotency_conflict", "Idempotency-Key já usada com outro conteúdo");
    // Another caller's key is another key.
    let mut eva = person("Eva");
    eva["userRole"] = json!("admin");
    admin.post("/users", &eva).await.ok(201);
    let eva = Api::anonymous(&server).login(&setup, "eva@example.com", "senha-segura").await;
    eva.json("POST", "/users", &key, &person("Davi")).await.ok(201);
    let long = "x".repeat(256);
    for bad in ["", "com espaço", long.as_str()] {
        let answer = admin.json("POST", "/users", &[("idempotency-key", bad)], &person("Gil")).await;
        assert_eq!(answer.invalid_fields(), ["Idempotency-Key"], "{bad:?}");
    }
    // A refused request is none that was done.
    let key = [("idempotency-key", "pedido-2")];
    admin.json("POST", "/users", &key, &body).await.refused(409, "email_taken", "E-mail já cadastrado");
    admin.json("POST", "/users", &key, &person("Hugo")).await.ok(201);
}
