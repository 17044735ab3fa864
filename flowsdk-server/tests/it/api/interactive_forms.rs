//! Interactive forms.

use serde_json::{Value, json};

use super::building::{act, actions, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, states, revisions, numbers, scope, twice);

const PATH: &str = "/interactive-forms";

fn form(router: &str) -> Value {
    json!({ "routerId": router, "name": "Agendamento", "description": "Marca um horário",
        "definition": { "version": "6.0", "screens": [{ "id": "DATA", "layout": { "children": [] } }] },
        "providerFormId": "4711", "channelNumberId": null })
}

async fn number(api: &Api, router: &str, phone_number_id: &str) -> String {
    let number = json!({ "routerId": router, "name": "N", "phoneNumberId": phone_number_id,
        "phoneNumber": "5511987654321", "businessAccountId": "777" });
    id(&api.post("/channel-numbers", &number).await.ok(201))
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let answer = admin.post(PATH, &form(&router)).await;
    let made = answer.ok(201);
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    for (field, value) in form(&router).as_object().unwrap() {
        assert_eq!(&made[field], value, "{field}");
    }
    assert_eq!((&made["status"], &made["revision"]), (&json!("draft"), &json!(1)));
    assert_eq!(made.as_object().unwrap().len(), 11, "{made}");
    assert_eq!(admin.get(&path).await.ok(200), made);
    // An absent field stays, and null removes a value.
    let change = json!({ "name": "Agenda", "description": null, "providerFormId": null });
    let mut changed = admin.patch(&path, &change).await.ok(200);
    assert_eq!((&changed["description"], &changed["providerFormId"]), (&json!(null), &json!(null)));
    assert_eq!((&changed["definition"], &changed["revision"]), (&made["definition"], &json!(1)));
    let mut second = admin.post(PATH, &json!({ "routerId": router, "name": "B" })).await.ok(201);
    assert_eq!(second["definition"], json!({}));
    // Lists leave the definitions out.
    for listed in [&mut changed, &mut second] {
        listed.as_object_mut().unwrap().remove("definition");
    }
    let list = admin.get(&format!("{PATH}?routerId={router}")).await.ok(200);
    assert_eq!(list["items"], json!([second, changed]));
    admin.delete(&path).await.ok(204);
    for answer in [
        admin.get(&path).await,
        admin.patch(&path, &json!({})).await,
        act(&admin, &format!("{path}/publish")).await,
        act(&admin, &format!("{path}/deprecate")).await,
        admin.delete(&path).await,
    ] {
        answer.refused(404, "not_found", "Formulário não encontrado");
    }
    let log = records(&admin, "entityType=INTERACTIVE_FORM", 4).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "CREATE", "DELETE"]);
    assert_eq!(log[2]["changes"]["name"], json!({ "from": "Agendamento", "to": "Agenda" }));
    admin.delete(&format!("/routers/{router}?force=true")).await.ok(204);
    admin.get(&format!("{PATH}/{}", id(&second))).await.assert_error(404);
}

async fn states(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = format!("{PATH}/{}", id(&admin.post(PATH, &form(&router)).await.ok(201)));
    let (publish, deprecate) = (format!("{path}/publish"), format!("{path}/deprecate"));
    let definition = json!({ "definition": {}, "revision": 1 });
    let refused = |answer: crate::harness::http::Answer| {
        answer.refused(409, "form_status", "O estado do formulário não permite isto");
    };
    refused(act(&admin, &deprecate).await);
    assert_eq!(act(&admin, &publish).await.ok(200)["status"], "published");
    refused(act(&admin, &publish).await);
    refused(admin.delete(&path).await);
    refused(admin.patch(&path, &definition).await);
    // What is not the definition may change.
    let named = admin.patch(&path, &json!({ "name": "Outro", "providerFormId": "12" })).await.ok(200);
    assert_eq!((&named["name"], &named["status"]), (&json!("Outro"), &json!("published")));
    let gone = act(&admin, &deprecate).await.ok(200);
    assert_eq!((&gone["status"], &gone["definition"]), (&json!("deprecated"), &form(&router)["definition"]));
    refused(act(&admin, &deprecate).await);
    refused(act(&admin, &publish).await);
    refused(admin.delete(&path).await);
    refused(admin.patch(&path, &definition).await);
    let log = records(&admin, "entityType=INTERACTIVE_FORM", 4).await;
    assert_eq!(actions(&log), ["CREATE", "PUBLISH", "UPDATE", "UPDATE"]);
    assert_eq!(log[0]["changes"], json!({ "status": { "from": "published", "to": "deprecated" } }));
    let empty = admin.post(PATH, &json!({ "routerId": router, "name": "Vazio" })).await.ok(201);
    let empty = act(&admin, &format!("{PATH}/{}/publish", id(&empty))).await;
    empty.refused(422, "form_empty", "O formulário não tem telas");
}

async fn revisions(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = format!("{PATH}/{}", id(&admin.post(PATH, &form(&router)).await.ok(201)));
    let change = |revision: Value| json!({ "definition": { "screens": [revision] }, "revision": revision });
    let second = admin.patch(&path, &change(json!(1))).await.ok(200);
    assert_eq!((&second["revision"], &second["definition"]), (&json!(2), &json!({ "screens": [1] })));
    let stale = admin.patch(&path, &change(json!(1))).await;
    stale.refused(409, "stale_revision", "O formulário foi alterado; a revisão atual é 2");
    assert_eq!(admin.get(&path).await.ok(200), second);
    let without = json!({ "definition": {} });
    assert_eq!(admin.patch(&path, &without).await.invalid_fields(), ["revision"]);
}

/// A form names numbers of its own router only, and outlives them.
async fn numbers(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let (own, foreign) = (number(&admin, &mine, "111").await, number(&admin, &theirs, "222").await);
    let with = |number: &str| {
        let mut form = form(&mine);
        form["channelNumberId"] = json!(number);
        form
    };
    for number in [foreign.as_str(), "cnothing"] {
        let unknown = admin.post(PATH, &with(number)).await;
        unknown.refused(422, "channel_number_unknown", "Número não encontrado no roteador");
    }
    let made = admin.post(PATH, &with(&own)).await.ok(201);
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(made["channelNumberId"], own);
    let unknown = admin.patch(&path, &json!({ "channelNumberId": foreign })).await;
    unknown.refused(422, "channel_number_unknown", "Número não encontrado no roteador");
    admin.delete(&format!("/channel-numbers/{own}")).await.ok(204);
    assert_eq!(admin.get(&path).await.ok(200)["channelNumberId"], json!(null));
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = format!("{PATH}/{}", id(&admin.post(PATH, &form(&router)).await.ok(201)));
    let deep = (0..33).fold(json!(1), |inner, _| json!({ "a": inner }));
    for (field, value) in [
        ("name", json!("")),
        ("name", json!("  ")),
        ("name", json!(null)),
        ("name", json!("x".repeat(201))),
        ("description", json!("x".repeat(1_001))),
        ("definition", json!([])),
        ("definition", json!(null)),
        ("definition", json!({ "a": "x".repeat(256 << 10) })),
        ("definition", deep),
        ("providerFormId", json!("abc")),
        ("channelNumberId", json!("não é")),
        ("status", json!("published")),
        ("other", json!(1)),
    ] {
        let mut body = form(&router);
        body[field] = value.clone();
        assert_eq!(admin.post(PATH, &body).await.invalid_fields(), [field], "{field}");
        let change = json!({ field: value, "revision": 1 });
        assert_eq!(admin.patch(&path, &change).await.invalid_fields(), [field], "{field}");
    }
    // A form stays with its router.
    assert_eq!(admin.patch(&path, &json!({ "routerId": router })).await.invalid_fields(), ["routerId"]);
    let nowhere = admin.post(PATH, &form("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    admin.post(PATH, &form(&router)).await.refused(409, "name_taken", "Nome já existe");
    let second = id(&admin.post(PATH, &json!({ "routerId": router, "name": "B" })).await.ok(201));
    let taken = admin.patch(&format!("{PATH}/{second}"), &json!({ "name": "Agendamento" })).await;
    taken.refused(409, "name_taken", "Nome já existe");
}

/// Members see and change the forms of their routers only.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let own = id(&admin.post(PATH, &form(&mine)).await.ok(201));
    let foreign = format!("{PATH}/{}", id(&admin.post(PATH, &form(&theirs)).await.ok(201)));
    let all = json!([{ "resource": "channel_numbers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let list = bia.get(PATH).await.ok(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids, std::slice::from_ref(&own));
    bia.patch(&format!("{PATH}/{own}"), &json!({ "name": "Meu" })).await.ok(200);
    for answer in [
        bia.get(&foreign).await,
        bia.patch(&foreign, &json!({})).await,
        act(&bia, &format!("{foreign}/publish")).await,
        act(&bia, &format!("{foreign}/deprecate")).await,
        bia.delete(&foreign).await,
    ] {
        answer.refused(404, "not_found", "Formulário não encontrado");
    }
    for answer in [bia.post(PATH, &form(&theirs)).await, bia.get(&format!("{PATH}?routerId={theirs}")).await]
    {
        answer.assert_error(403);
    }
    let read = json!([{ "resource": "channel_numbers", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&foreign).await.ok(200);
    for answer in [
        eva.post(PATH, &form(&mine)).await,
        eva.patch(&foreign, &json!({})).await,
        act(&eva, &format!("{foreign}/publish")).await,
        act(&eva, &format!("{foreign}/deprecate")).await,
        eva.delete(&foreign).await,
    ] {
        answer.refused(403, "permission_denied", "Sem permissão");
    }
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let key = [("idempotency-key", "i-1")];
    let first = admin.json("POST", PATH, &key, &form(&router)).await.ok(201);
    assert_eq!(admin.json("POST", PATH, &key, &form(&router)).await.ok(201), first);
    assert_eq!(admin.get(PATH).await.ok(200)["items"].as_array().unwrap().len(), 1);
}
