//! What changes counts at the very next request, also in another process (spec A 5.1).

use serde_json::json;

use crate::harness::{Api, Setup, everywhere};

everywhere!(changes_count_at_once);

async fn changes_count_at_once(setup: Setup) {
    let first = setup.start().await;
    // Without Redis a database belongs to one process, so there it is the same one.
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let second = other.as_ref().unwrap_or(&first);
    let admin = Api::admin(&setup, &first).await;
    let reads = json!([{ "resource": "routers", "actions": ["read"] }]);

    let group = admin.post("/groups", &json!({ "name": "G", "permissions": reads })).await.ok(201);
    let group = format!("/groups/{}", group["id"].as_str().unwrap());
    let user = json!({ "name": "Bia", "email": "bia@example.com", "phone": "5511999990000", "password": "senha-segura",
        "groupId": group.rsplit('/').next().unwrap() });
    let user = format!("/users/{}", admin.post("/users", &user).await.ok(201)["id"].as_str().unwrap());
    let bia = Api::anonymous(second).login(&setup, "bia@example.com", "senha-segura").await;
    let made = admin.post("/api-clients", &json!({ "name": "CRM", "permissions": reads })).await.ok(201);
    setup.plant(made["token"].as_str().unwrap());
    let (crm, client) = (
        Api::anonymous(second).with(made["token"].as_str().unwrap()),
        format!("/api-clients/{}", made["id"].as_str().unwrap()),
    );
    // Under load, so that a lookup that is under way could answer with what was.
    let load =
        |api: Api| async move { futures_util::future::join_all((0..8).map(|_| api.get("/routers"))).await };
    for round in 0..10 {
        let (permissions, status) = if round % 2 == 0 { (json!([]), 403) } else { (reads.clone(), 200) };
        let (_, changed) = futures_util::future::join(
            load(bia.clone()),
            admin.patch(&group, &json!({ "permissions": permissions })),
        )
        .await;
        changed.ok(200);
        assert_eq!(bia.get("/routers").await.status, status, "round {round}");
        let active = json!({ "active": round % 2 == 1 });
        let (_, changed) = futures_util::future::join(load(crm.clone()), admin.patch(&client, &active)).await;
        changed.ok(200);
        assert_eq!(crm.get("/routers").await.status, if round % 2 == 1 { 200 } else { 401 }, "round {round}");
    }
    let scope = json!({ "routerIds": [setup.seeded.router] });
    admin.patch(&group, &scope).await.ok(200);
    assert_eq!(bia.get("/routers").await.ok(200)["items"].as_array().unwrap().len(), 1);
    admin.patch(&user, &json!({ "groupId": null })).await.ok(200);
    assert_eq!(bia.get("/routers").await.status, 403);
    admin.patch(&user, &json!({ "userRole": "admin" })).await.ok(200);
    assert_eq!(bia.get("/users").await.status, 200);
    admin.patch(&client, &json!({ "expiresAt": "2001-01-01T00:00:00Z" })).await.ok(200);
    crm.get("/routers").await.refused(401, "token_expired", "Token expirado");
    bia.at(&first).send("POST", "/auth/logout", &[], None).await.ok(204);
    bia.get("/routers").await.refused(401, "session_ended", "Sessão encerrada");
    let bia = Api::anonymous(second).login(&setup, "bia@example.com", "senha-segura").await;
    admin.delete(&user).await.ok(204);
    bia.get("/routers").await.refused(401, "principal_unknown", "Usuário não encontrado");
}
