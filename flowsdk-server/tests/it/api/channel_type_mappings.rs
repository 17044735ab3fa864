//! Channel type mappings.

use serde_json::{Value, json};

use super::building::{actions, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, scope, twice);

const PATH: &str = "/channel-type-mappings";

fn mapping(router: &str) -> Value {
    json!({ "routerId": router, "channelType": "phone", "label": "WhatsApp", "externalType": "WABA" })
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let answer = admin.post(PATH, &mapping(&router)).await;
    let made = answer.ok(201);
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    for (field, value) in mapping(&router).as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!(made.as_object().unwrap().len(), 7, "{made}");
    assert_eq!(admin.get(&path).await.ok(200), made);
    let changed = admin.patch(&path, &json!({ "label": "Zap" })).await.ok(200);
    assert_eq!((&changed["label"], &changed["externalType"]), (&json!("Zap"), &json!("WABA")));
    let mut other = mapping(&router);
    other["channelType"] = json!("webchat");
    let other = admin.post(PATH, &other).await.ok(201);
    let list = admin.get(&format!("{PATH}?routerId={router}")).await.ok(200);
    assert_eq!(list["items"], json!([other, changed]));
    admin.delete(&path).await.ok(204);
    for answer in [admin.get(&path).await, admin.patch(&path, &json!({})).await, admin.delete(&path).await] {
        answer.refused(404, "not_found", "Mapeamento não encontrado");
    }
    let log = records(&admin, "entityType=CHANNEL_TYPE_MAPPING", 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "CREATE", "DELETE"]);
    assert_eq!(log[2]["changes"], json!({ "label": { "from": "WhatsApp", "to": "Zap" } }));
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    admin.get(&format!("{PATH}/{}", id(&other))).await.assert_error(404);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, other) = (router(&admin, "Loja").await, router(&admin, "Outra").await);
    let path = format!("{PATH}/{}", id(&admin.post(PATH, &mapping(&router)).await.ok(201)));
    for (field, value) in [
        ("label", json!("")),
        ("label", json!("  ")),
        ("label", json!(null)),
        ("label", json!("x".repeat(201))),
        ("externalType", json!("")),
        ("externalType", json!(" ")),
        ("externalType", json!(7)),
        ("externalType", json!("x".repeat(129))),
        ("other", json!(1)),
    ] {
        let mut body = mapping(&router);
        body[field] = value.clone();
        assert_eq!(admin.post(PATH, &body).await.invalid_fields(), [field], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    let mut fax = mapping(&router);
    fax["channelType"] = json!("fax");
    assert_eq!(admin.post(PATH, &fax).await.invalid_fields(), ["channelType"]);
    // A mapping stays with its router and its channel.
    for (field, value) in [("routerId", json!(router)), ("channelType", json!("social"))] {
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field]);
    }
    let nowhere = admin.post(PATH, &mapping("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    let again = admin.post(PATH, &mapping(&router)).await;
    again.refused(409, "channel_type_taken", "O roteador já tem um mapeamento deste canal");
    // Of each router there is one.
    admin.post(PATH, &mapping(&other)).await.ok(201);
}

/// Members see and change the mappings of their routers only.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let own = id(&admin.post(PATH, &mapping(&mine)).await.ok(201));
    let foreign = format!("{PATH}/{}", id(&admin.post(PATH, &mapping(&theirs)).await.ok(201)));
    let all = json!([{ "resource": "channel_numbers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let list = bia.get(PATH).await.ok(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids, std::slice::from_ref(&own));
    bia.patch(&format!("{PATH}/{own}"), &json!({ "label": "Meu" })).await.ok(200);
    for answer in [bia.get(&foreign).await, bia.patch(&foreign, &json!({})).await, bia.delete(&foreign).await]
    {
        answer.refused(404, "not_found", "Mapeamento não encontrado");
    }
    for answer in
        [bia.post(PATH, &mapping(&theirs)).await, bia.get(&format!("{PATH}?routerId={theirs}")).await]
    {
        answer.assert_error(403);
    }
    let read = json!([{ "resource": "channel_numbers", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&foreign).await.ok(200);
    for answer in [
        eva.post(PATH, &mapping(&mine)).await,
        eva.patch(&foreign, &json!({})).await,
        eva.delete(&foreign).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let key = [("idempotency-key", "m-1")];
    let first = admin.json("POST", PATH, &key, &mapping(&router)).await.ok(201);
    assert_eq!(admin.json("POST", PATH, &key, &mapping(&router)).await.ok(201), first);
    assert_eq!(admin.get(PATH).await.ok(200)["items"], json!([first]));
}
