//! Saved filters of contacts.

use serde_json::{Value, json};

use super::building::{actions, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice);

fn filter(router: &str) -> Value {
    json!({ "routerId": router, "name": "Do site", "q": "ana", "origin": "webchat" })
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let answer = admin.post("/contact-filters", &filter(&router)).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/contact-filters/{}", id(&made)));
    for (field, value) in filter(&router).as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!(made.as_object().unwrap().len(), 7, "{made}");
    let path = format!("/contact-filters/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    // An absent field stays, and null removes a value.
    let changed = admin.patch(&path, &json!({ "name": "Todos", "q": null })).await.ok(200);
    assert_eq!((&changed["name"], &changed["q"]), (&json!("Todos"), &json!(null)));
    assert_eq!(changed["origin"], "webchat");
    let second = admin.post("/contact-filters", &json!({ "routerId": router, "name": "B" })).await.ok(201);
    assert_eq!((&second["q"], &second["origin"]), (&json!(null), &json!(null)));
    let list = admin.get(&format!("/contact-filters?routerId={router}")).await.ok(200);
    assert_eq!(list["items"], json!([second, changed]));
    admin.delete(&path).await.ok(204);
    for answer in [admin.get(&path).await, admin.patch(&path, &json!({})).await, admin.delete(&path).await] {
        answer.refused(404, "not_found", "Filtro não encontrado");
    }
    let log = records(&admin, "entityType=CONTACT_FILTER", 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "CREATE", "DELETE"]);
    let changes = json!({ "name": { "from": "Do site", "to": "Todos" }, "q": { "from": "ana", "to": null } });
    assert_eq!(log[2]["changes"]["name"], changes["name"]);
    assert_eq!(log[2]["changes"]["q"], changes["q"]);
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    admin.get(&format!("/contact-filters/{}", id(&second))).await.assert_error(404);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path =
        format!("/contact-filters/{}", id(&admin.post("/contact-filters", &filter(&router)).await.ok(201)));
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!(null)),
        ("name", json!("x".repeat(201))),
        ("q", json!("")),
        ("q", json!(" ")),
        ("q", json!(7)),
        ("q", json!("x".repeat(201))),
        ("origin", json!("fax")),
        ("origin", json!("")),
        ("other", json!(1)),
    ] {
        let mut body = filter(&router);
        body[field] = value.clone();
        assert_eq!(admin.post("/contact-filters", &body).await.invalid_fields(), [field], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    // A filter stays with its router.
    assert_eq!(admin.patch(&path, &json!({ "routerId": router })).await.invalid_fields(), ["routerId"]);
    assert_eq!(admin.post("/contact-filters", &json!({})).await.invalid_fields(), ["name", "routerId"]);
    let nowhere = admin.post("/contact-filters", &filter("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    assert_eq!(admin.get(&path).await.ok(200)["name"], "Do site");
}

/// Members see and change the filters of their routers only.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let own = id(&admin.post("/contact-filters", &filter(&mine)).await.ok(201));
    let foreign =
        format!("/contact-filters/{}", id(&admin.post("/contact-filters", &filter(&theirs)).await.ok(201)));
    let all = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let list = bia.get("/contact-filters").await.ok(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids, std::slice::from_ref(&own));
    bia.patch(&format!("/contact-filters/{own}"), &json!({ "name": "Meu" })).await.ok(200);
    for answer in [bia.get(&foreign).await, bia.patch(&foreign, &json!({})).await, bia.delete(&foreign).await]
    {
        answer.refused(404, "not_found", "Filtro não encontrado");
    }
    for answer in [
        bia.post("/contact-filters", &filter(&theirs)).await,
        bia.get(&format!("/contact-filters?routerId={theirs}")).await,
    ] {
        answer.assert_error(403);
    }
    let read = json!([{ "resource": "contacts", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&foreign).await.ok(200);
    for answer in [
        eva.post("/contact-filters", &filter(&mine)).await,
        eva.patch(&foreign, &json!({})).await,
        eva.delete(&foreign).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
    Api::anonymous(&server).get("/contact-filters").await.assert_error(401);
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let key = [("idempotency-key", "f-1")];
    let first = admin.json("POST", "/contact-filters", &key, &filter(&router)).await.ok(201);
    assert_eq!(admin.json("POST", "/contact-filters", &key, &filter(&router)).await.ok(201), first);
    let other = json!({ "routerId": router, "name": "Outro" });
    let conflict = admin.json("POST", "/contact-filters", &key, &other).await;
    conflict.assert_error(409);
    assert_eq!(conflict.json()["code"], "idempotency_conflict");
    let list = admin.get("/contact-filters").await.ok(200);
    assert_eq!(list["items"], json!([first]));
}
