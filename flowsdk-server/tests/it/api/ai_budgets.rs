//! What the models of routers may cost.

use serde_json::{Value, json};

use super::building::{actions, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: scope, twice, what_is_refused);

const NOT_FOUND: &str = "Orçamento não encontrado";

fn budget(router: &str) -> Value {
    json!({ "routerId": router, "monthlyAmount": 12.5 })
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, other) = (router(&admin, "Loja").await, router(&admin, "B").await);
    let made = admin.post("/ai/budgets", &budget(&router)).await.ok(201);
    assert_eq!(made.as_object().unwrap().len(), 7, "{made}");
    let shown = (&made["routerId"], &made["monthlyAmount"], &made["isActive"], &made["spent"]);
    assert_eq!(shown, (&json!(router), &json!(12.5), &json!(true), &json!(0)));
    let path = format!("/ai/budgets/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let taken = admin.post("/ai/budgets", &budget(&router)).await;
    taken.refused(409, "budget_taken", "O roteador já tem um orçamento");
    let second = admin.post("/ai/budgets", &budget(&other)).await.ok(201);
    let change = json!({ "monthlyAmount": 20, "isActive": false });
    let changed = admin.patch(&path, &change).await.ok(200);
    assert_eq!((&changed["monthlyAmount"], &changed["isActive"]), (&json!(20), &json!(false)));
    let list = admin.get(&format!("/ai/budgets?routerId={router}")).await.ok(200);
    assert_eq!(list["items"], json!([changed]));
    let list = admin.get("/ai/budgets").await.ok(200);
    assert_eq!(list["items"], json!([second, changed]));
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", NOT_FOUND);
    admin.post("/ai/budgets", &budget(&router)).await.ok(201);
    let log = records(&admin, &format!("entityType=AI_BUDGET&routerId={router}"), 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "DELETE", "CREATE"]);
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    let list = admin.get("/ai/budgets").await.ok(200);
    assert_eq!(list["items"], json!([second]));
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = id(&admin.post("/ai/budgets", &budget(&theirs)).await.ok(201));
    let foreign = format!("/ai/budgets/{foreign}");
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let own = bia.post("/ai/budgets", &budget(&mine)).await.ok(201);
    assert_eq!(bia.get("/ai/budgets").await.ok(200)["items"], json!([own]));
    bia.get(&foreign).await.refused(404, "not_found", NOT_FOUND);
    bia.patch(&foreign, &json!({})).await.refused(404, "not_found", NOT_FOUND);
    bia.delete(&foreign).await.refused(404, "not_found", NOT_FOUND);
    bia.post("/ai/budgets", &budget(&theirs)).await.assert_error(403);
    bia.get(&format!("/ai/budgets?routerId={theirs}")).await.assert_error(403);
    let read = json!([{ "resource": "routers", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&foreign).await.ok(200);
    eva.patch(&foreign, &json!({})).await.assert_error(403);
    eva.delete(&foreign).await.assert_error(403);
    eva.post("/ai/budgets", &budget(&mine)).await.assert_error(403);
    Api::anonymous(&server).get("/ai/budgets").await.assert_error(401);
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let key = [("idempotency-key", "k-1")];
    let first = admin.json("POST", "/ai/budgets", &key, &budget(&router)).await.ok(201);
    assert_eq!(admin.json("POST", "/ai/budgets", &key, &budget(&router)).await.ok(201), first);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = format!("/ai/budgets/{}", id(&admin.post("/ai/budgets", &budget(&router)).await.ok(201)));
    for (field, value) in [
        ("monthlyAmount", json!(-1)),
        ("monthlyAmount", json!("1")),
        ("monthlyAmount", json!(0.1234567)),
        ("monthlyAmount", json!(1_000_000_001)),
        ("isActive", json!("yes")),
        ("spent", json!(0)),
        ("routerId", json!("cnothing")),
    ] {
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    let nowhere = admin.post("/ai/budgets", &budget("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
}
