//! Distribution rules.

use serde_json::{Value, json};

use super::building::{id, published, router, says};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice);

const PATH: &str = "/queue-distribution-rules";

async fn queue(api: &Api, router: &str, name: &str) -> String {
    id(&api.post("/queues", &json!({ "routerId": router, "name": name })).await.ok(201))
}

fn rule(router: &str, queue: &str) -> Value {
    json!({ "routerId": router, "name": "Faturas", "priority": 10, "targetQueueId": queue, "flowId": null,
        "isActive": true, "conditions": [{ "source": { "type": "context", "key": "subject" },
            "comparator": "contains", "values": ["fatura"] }] })
}

fn at(id: &str) -> String {
    format!("{PATH}/{id}")
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let (queue, other) = (queue(&admin, &router, "A").await, queue(&admin, &router, "B").await);
    let flow = published(&admin, &router, "F", &says("oi")).await;
    let body = rule(&router, &queue);
    let made = admin.post(PATH, &body).await.ok(201);
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    let path = at(&id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    let change = json!({ "priority": -3, "targetQueueId": other, "flowId": flow, "conditions": [], "isActive": false });
    let changed = admin.patch(&path, &change).await.ok(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value, "{field}");
    }
    assert_eq!(admin.patch(&path, &json!({ "flowId": null })).await.ok(200)["flowId"], json!(null));
    assert_eq!(admin.get(PATH).await.ok(200)["items"].as_array().unwrap().len(), 1);
    admin.patch(&path, &json!({ "flowId": flow })).await.ok(200);
    let refused = admin.delete(&format!("/flows/{flow}")).await;
    refused.assert_error(409);
    assert!(refused.body.contains("queueDistributionRule.flowId"), "{refused:?}");
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Regra de distribuição não encontrada");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let (queue, foreign) = (queue(&admin, &mine, "A").await, queue(&admin, &theirs, "B").await);
    let foreign_flow = published(&admin, &theirs, "F", &says("oi")).await;
    let path = at(&id(&admin.post(PATH, &rule(&mine, &queue)).await.ok(201)));
    let condition = |comparator: &str, values: Value| json!([{ "source": { "type": "context", "key": "a" }, "comparator": comparator, "values": values }]);
    for (field, value, place) in [
        ("name", json!(" "), "name"),
        ("priority", json!("1"), "priority"),
        ("priority", json!(1_000_001), "priority"),
        ("conditions", json!({}), "conditions"),
        ("conditions", condition("equals", json!([])), "conditions[0].values"),
        ("conditions", condition("matches", json!(["("])), "conditions[0].values[0]"),
        ("conditions", condition("matches", json!(["{{a}}"])), "conditions[0].values[0]"),
        ("targetQueueId", json!(null), "targetQueueId"),
        ("targetQueueId", json!("!"), "targetQueueId"),
        ("isActive", json!(1), "isActive"),
        ("other", json!(1), "other"),
    ] {
        let mut body = rule(&mine, &queue);
        body[field] = value.clone();
        assert_eq!(admin.post(PATH, &body).await.invalid_fields(), [place], "{field} {value}");
        if value.is_null() {
            continue;
        }
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [place], "{field}");
    }
    for (field, value, code, text) in [
        ("targetQueueId", &foreign, "queue_unknown", "A fila não existe neste roteador"),
        ("targetQueueId", &"cnothing".to_owned(), "queue_unknown", "A fila não existe neste roteador"),
        ("flowId", &foreign_flow, "flow_unknown", "O flow não existe neste roteador"),
    ] {
        let mut body = rule(&mine, &queue);
        body[field] = json!(value);
        admin.post(PATH, &body).await.refused(422, code, text);
        admin.patch(&path, &json!({ field: value })).await.refused(422, code, text);
    }
    for unknown in [json!({ "type": "weather" }), json!(7)] {
        let mut body = rule(&mine, &queue);
        body["conditions"][0]["source"] = unknown;
        assert_eq!(admin.post(PATH, &body).await.status, 400);
    }
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = queue(&admin, &theirs, "B").await;
    let path = at(&id(&admin.post(PATH, &rule(&theirs, &foreign)).await.ok(201)));
    let all = json!([{ "resource": "queues", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    for answer in
        [bia.get(&path).await, bia.patch(&path, &json!({ "priority": 1 })).await, bia.delete(&path).await]
    {
        answer.refused(404, "not_found", "Regra de distribuição não encontrada");
    }
    assert_eq!(bia.get(PATH).await.ok(200)["items"], json!([]));
    let answer = bia.post(PATH, &rule(&theirs, &foreign)).await;
    answer.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let read = json!([{ "resource": "queues", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&path).await.ok(200);
    eva.delete(&path).await.refused(403, "permission_denied", "Sem permissão");
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let queue = queue(&admin, &router, "A").await;
    let key = [("idempotency-key", "k-1")];
    let body = rule(&router, &queue);
    let first = admin.json("POST", PATH, &key, &body).await.ok(201);
    assert_eq!(admin.json("POST", PATH, &key, &body).await.ok(201), first);
    assert_eq!(admin.get(PATH).await.ok(200)["items"].as_array().unwrap().len(), 1);
}
