//! Interactive forms.

use serde_json::{Value, json};

use super::building::{act, actions, id, records, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, states, revisions, numbers, tools, scope, twice);

const PATH: &str = "/interactive-forms";

const ROUTES: Routes = Routes {
    path: PATH,
    body: form,
    second: |router| json!({ "routerId": router, "name": "B" }),
    change: || json!({ "name": "Agenda", "description": null, "providerFormId": null }),
    fields: 12,
    unlisted: &["definition"],
    commands: &["publish", "deprecate"],
    resource: "channel_numbers",
    kind: "INTERACTIVE_FORM",
    not_found: "Formulário não encontrado",
};

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
    ROUTES.live(setup).await;
}

async fn scope(setup: Setup) {
    ROUTES.keep_to_their_router(setup).await;
}

async fn twice(setup: Setup) {
    ROUTES.are_created_once(setup).await;
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
    assert_eq!((&empty["status"], &empty["revision"]), (&json!("draft"), &json!(1)));
    assert_eq!(empty["definition"], json!({}));
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

/// A form names tools of its own router only, and outlives them.
async fn tools(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let flow = async |router: &str, name: &str, kind: &str| {
        let new = json!({ "routerId": router, "name": name, "kind": kind });
        id(&admin.post("/flows", &new).await.ok(201))
    };
    let (own, foreign) = (flow(&mine, "Preço", "tool").await, flow(&theirs, "Preço", "tool").await);
    let talk = flow(&mine, "Conversa", "flow").await;
    let with = |flow: &str| {
        let mut form = form(&mine);
        form["flowId"] = json!(flow);
        form
    };
    for (flow, code, text) in [
        (foreign.as_str(), "flow_unknown", "Flow não encontrado no roteador"),
        ("cnothing", "flow_unknown", "Flow não encontrado no roteador"),
        (&talk, "flow_not_tool", "O flow não é uma ferramenta"),
    ] {
        admin.post(PATH, &with(flow)).await.refused(422, code, text);
    }
    let made = admin.post(PATH, &with(&own)).await.ok(201);
    let path = format!("{PATH}/{}", id(&made));
    assert_eq!(made["flowId"], own);
    for (flow, code) in [(foreign, "flow_unknown"), (talk, "flow_not_tool")] {
        assert_eq!(admin.patch(&path, &json!({ "flowId": flow })).await.json()["code"], code);
    }
    assert_eq!(admin.patch(&path, &json!({ "flowId": null })).await.ok(200)["flowId"], json!(null));
    assert_eq!(admin.patch(&path, &json!({ "flowId": own })).await.ok(200)["flowId"], own);
    admin.delete(&format!("/flows/{own}?force=true")).await.ok(204);
    assert_eq!(admin.get(&path).await.ok(200)["flowId"], json!(null));
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let deep = (0..33).fold(json!(1), |inner, _| json!({ "a": inner }));
    let wrong = [
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
        ("flowId", json!("não é")),
        ("status", json!("published")),
        ("other", json!(1)),
    ];
    // A change of the definition needs the revision.
    ROUTES.refuse(&admin, &router, &json!({ "revision": 1 }), &wrong).await;
    admin.post(PATH, &form(&router)).await.refused(409, "name_taken", "Nome já existe");
    let second = id(&admin.post(PATH, &json!({ "routerId": router, "name": "B" })).await.ok(201));
    let taken = admin.patch(&format!("{PATH}/{second}"), &json!({ "name": "Agendamento" })).await;
    taken.refused(409, "name_taken", "Nome já existe");
}
