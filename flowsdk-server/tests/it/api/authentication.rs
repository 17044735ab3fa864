//! `authenticate` and `requirePermission` (spec A 5.2, 5.3), row by row.

use serde_json::json;

use crate::harness::{Api, Setup, everywhere};

everywhere!(tokens_of_every_kind);
everywhere!(in process: permissions, scopes);

async fn tokens_of_every_kind(setup: Setup) {
    let server = setup.start().await;
    let api = Api::anonymous(&server);
    let none = [None, Some(""), Some("Bearer"), Some("Bearer "), Some("Basic YTpi")];
    for header in none {
        let headers: Vec<_> = header.map(|value| ("authorization", value)).into_iter().collect();
        let answer = api.send("GET", "/users", &headers, None).await;
        answer.refused(401, "token_missing", "Token não informado");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    for token in ["x", "a.b.c", "eyJhbGciOiJIUzI1NiJ9.e30.x", "FAI_0"] {
        api.with(token).get("/users").await.refused(401, "token_invalid", "Token JWT inválido");
    }
    for token in ["fai_", "fai_x", &format!("fai_{}", "0".repeat(64))] {
        api.with(token).get("/users").await.refused(401, "token_invalid", "Token inválido");
    }

    let admin = Api::admin(&setup, &server).await;
    let reader = json!([{ "resource": "users", "actions": ["read"] }]);
    let made = admin.post("/api-clients", &json!({ "name": "CRM", "permissions": reader })).await.ok(201);
    let (token, path) =
        (made["token"].as_str().unwrap(), format!("/api-clients/{}", made["id"].as_str().unwrap()));
    setup.plant(token);
    assert!(token.len() == 4 + 64 && token.starts_with("fai_"), "256 bits");
    let crm = api.with(token);
    crm.get("/users").await.ok(200);
    admin.patch(&path, &json!({ "active": false })).await.ok(200);
    crm.get("/users").await.refused(401, "token_invalid", "Token inválido");
    admin.patch(&path, &json!({ "active": true, "expiresAt": "2020-01-01T00:00:00.000Z" })).await.ok(200);
    crm.get("/users").await.refused(401, "token_expired", "Token expirado");
    admin.patch(&path, &json!({ "expiresAt": null })).await.ok(200);
    crm.get("/users").await.ok(200);
    let rotated = admin.send("POST", &format!("{path}/rotate"), &[], None).await.ok(200);
    let new = rotated["token"].as_str().unwrap();
    setup.plant(new);
    crm.get("/users").await.refused(401, "token_invalid", "Token inválido");
    api.with(new).get("/users").await.ok(200);
    // The token is shown when it is made and never again.
    for path in [path.as_str(), "/api-clients"] {
        let shown = admin.get(path).await;
        assert!(!shown.body.contains("token") && !shown.body.contains("fai_"), "{shown:?}");
    }
    admin.delete(&path).await.ok(204);
    api.with(new).get("/users").await.refused(401, "token_invalid", "Token inválido");
}

async fn permissions(setup: Setup) {
    let server = setup.start().await;
    let (admin, api) = (Api::admin(&setup, &server).await, Api::anonymous(&server));
    // Rule 5: no group.
    let user = json!({ "name": "Só", "email": "so@example.com", "phone": "5511999990000", "password": "senha-segura" });
    let created = admin.post("/users", &user).await.ok(201);
    let alone = api.login(&setup, "so@example.com", "senha-segura").await;
    for path in ["/users", "/routers", "/audit-logs"] {
        alone.get(path).await.refused(403, "permission_denied", "Sem permissão");
    }
    // Rule 6: the entry and the action; `write` and `admin` include no `read`.
    let group =
        json!({ "name": "G", "permissions": [{ "resource": "users", "actions": ["write", "admin"] }] });
    let group = admin.post("/groups", &group).await.ok(201);
    let (user, group) =
        (format!("/users/{}", created["id"].as_str().unwrap()), group["id"].as_str().unwrap().to_owned());
    admin.patch(&user, &json!({ "groupId": group })).await.ok(200);
    alone.get("/users").await.refused(403, "permission_denied", "Sem permissão");
    let read = json!({ "permissions": [{ "resource": "users", "actions": ["read"] }] });
    admin.patch(&format!("/groups/{group}"), &read).await.ok(200);
    alone.get("/users").await.ok(200);
    alone.get("/routers").await.refused(403, "permission_denied", "Sem permissão");
    // `requireAdminUserRole` ignores groups and API clients (rulings A7).
    let all = json!([{ "resource": "users", "actions": ["read", "write", "admin"] },
        { "resource": "settings", "actions": ["read", "write", "admin"] }]);
    let made = admin.post("/api-clients", &json!({ "name": "CRM", "permissions": all })).await.ok(201);
    setup.plant(made["token"].as_str().unwrap());
    let member = admin.member(&setup, &all, &[]).await;
    for caller in [member, api.with(made["token"].as_str().unwrap())] {
        caller.get("/api-clients").await.ok(200);
        let refused = caller.patch(&user, &json!({ "userRole": "admin" })).await;
        refused.refused(403, "admin_only", "Acesso restrito a administradores");
        for path in ["/users", "/groups", "/api-clients"] {
            let refused = caller.post(path, &json!({})).await;
            refused.refused(403, "admin_only", "Acesso restrito a administradores");
        }
    }
    // Rule 4: an administrator needs no group.
    admin.patch(&user, &json!({ "userRole": "admin", "groupId": null })).await.ok(200);
    alone.get("/audit-logs").await.ok(200);
}

/// Rule 7, rulings H6.
async fn scopes(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let routers: Vec<String> = admin.get("/routers").await.ok(200)["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|router| router["id"].as_str().unwrap().to_owned())
        .collect();
    let everything: Vec<_> = ["users", "settings", "routers", "audit_logs"]
        .map(|resource| json!({ "resource": resource, "actions": ["read", "write", "admin"] }))
        .into();
    let scoped = admin.member(&setup, &json!(everything), &[&routers[0]]).await;
    for path in ["/users", "/groups", "/api-clients"] {
        let refused = scoped.get(path).await;
        refused.refused(403, "resource_global", "Recurso global fora do escopo");
    }
    let seen = scoped.get("/routers").await.ok(200);
    assert_eq!(seen["items"].as_array().unwrap().len(), 1);
    scoped.get(&format!("/routers/{}", routers[0])).await.ok(200);
    for other in [routers[1].as_str(), "cnothing"] {
        let refused = scoped.get(&format!("/api/routers/{other}")).await;
        refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    }
    admin.get("/routers/cnothing").await.refused(404, "not_found", "Roteador não encontrado");
    let router = admin.get(&format!("/routers/{}", routers[1])).await.ok(200);
    assert_eq!(
        (&router["hasChannelAppSecret"], &router["hasChannelVerifyToken"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(router["tz"], "America/Sao_Paulo");
}
