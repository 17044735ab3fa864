//! What AI agents know.

use serde_json::{Value, json};

use super::building::{id, router};
use super::router_records::Routes;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(life);
everywhere!(in process: scope, what_is_refused, twice, searches_keep_to_their_router, a_page_is_read, large_contents);

const DOCUMENTS: Routes = Routes {
    path: "/knowledge-documents",
    body: |router| {
        json!({ "routerId": router, "name": "Menu", "tags": ["menu"], "mediaType": "text/markdown",
            "text": "# Chá\n\nO chá verde custa 12 reais." })
    },
    second: |router| json!({ "routerId": router, "name": "Horas", "text": "Abrimos às nove." }),
    change: || json!({ "name": "Preços", "tags": [] }),
    fields: 16,
    unlisted: &[],
    commands: &["retry"],
    resource: "flows",
    kind: "KNOWLEDGE_DOCUMENT",
    not_found: "Documento não encontrado",
};

/// Waits until a document is as far as this.
pub(super) async fn until(admin: &Api, path: &str, status: &str) -> Value {
    eventually(status, || async {
        let document = admin.get(path).await.ok(200);
        (document["status"] == status).then_some(document)
    })
    .await
}

/// Returns the texts that a search finds.
pub(super) async fn find(api: &Api, search: Value) -> Vec<String> {
    let found = api.post("/knowledge/search", &search).await.ok(200);
    found["items"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect()
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let answer = admin.post(DOCUMENTS.path, &(DOCUMENTS.body)(&router)).await;
    let made = answer.ok(201);
    let path = DOCUMENTS.at(&id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    assert_eq!(made.as_object().unwrap().len(), DOCUMENTS.fields, "{made}");
    assert_eq!(
        (&made["status"], &made["size"], &made["revision"]),
        (&json!("waiting"), &json!(36), &json!(1))
    );
    let ready = until(&admin, &path, "ready").await;
    let progress = (&ready["chunks"], &ready["embedded"], &ready["embeddedBy"]);
    assert_eq!(
        progress,
        (&json!(1), &json!(1), &json!("hashing-1536")),
        "without a credential no model is asked"
    );
    let search = json!({ "routerId": router, "query": "quanto custa o chá?" });
    let found = admin.post("/knowledge/search", &search).await.ok(200);
    let first = &found["items"][0];
    assert_eq!((&first["documentId"], &first["name"]), (&ready["id"], &json!("Menu")));
    assert_eq!(
        (&first["position"], &first["text"]),
        (&json!(0), &json!("# Chá\n\nO chá verde custa 12 reais."))
    );
    let score = first["score"].as_f64().unwrap();
    assert!(score > 0.2 && score < 1.0, "{score}");
    let changed = admin.patch(&path, &(DOCUMENTS.change)()).await.ok(200);
    assert_eq!((&changed["name"], &changed["tags"]), (&json!("Preços"), &json!([])));
    assert_eq!(changed["status"], "ready", "its content is the same");
    let content = json!({ "text": "O chá verde custa 13 reais." });
    let replaced = admin.put(&format!("{path}/content"), &content).await.ok(200);
    assert_eq!((&replaced["revision"], &replaced["mediaType"]), (&json!(2), &json!("text/plain")));
    until(&admin, &path, "ready").await;
    assert_eq!(find(&admin, search.clone()).await, ["O chá verde custa 13 reais."]);
    let again = admin.post(&format!("{path}/retry"), &json!({})).await.ok(200);
    assert_eq!(again["revision"], 3);
    until(&admin, &path, "ready").await;
    let list =
        admin.get(&format!("/knowledge-documents?routerId={router}&status=ready&q=preç")).await.ok(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let none = admin.get(&format!("/knowledge-documents?routerId={router}&status=failed")).await.ok(200);
    assert_eq!(none["items"], json!([]));
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", DOCUMENTS.not_found);
    assert_eq!(find(&admin, search).await, [""; 0]);
}

async fn scope(setup: Setup) {
    DOCUMENTS.keep_to_their_router(setup).await;
}

async fn searches_keep_to_their_router(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    for (router, text) in [(&mine, "O chá custa 12 reais."), (&theirs, "O chá custa 99 reais.")] {
        let body = json!({ "routerId": router, "name": "Menu", "tags": ["menu"], "text": text });
        let made = admin.post(DOCUMENTS.path, &body).await.ok(201);
        until(&admin, &DOCUMENTS.at(&id(&made)), "ready").await;
    }
    let search = |router: &str| json!({ "routerId": router, "query": "chá", "tags": ["menu"], "limit": 50 });
    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    let bia = admin.member(&setup, &read, &[&mine]).await;
    assert_eq!(find(&bia, search(&mine)).await, ["O chá custa 12 reais."]);
    let beyond = bia.post("/knowledge/search", &search(&theirs)).await;
    beyond.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let other = json!([{ "resource": "contacts", "actions": ["read", "write"] }]);
    let eva = admin.member(&setup, &other, &[]).await;
    eva.post("/knowledge/search", &search(&mine)).await.refused(403, "permission_denied", "Sem permissão");
    let nowhere = admin.post("/knowledge/search", &search("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    let foreign = admin.get(&format!("/knowledge-documents?routerId={theirs}")).await.ok(200);
    let foreign = DOCUMENTS.at(&id(&foreign["items"][0]));
    let write = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let ana = admin.member(&setup, &write, &[&mine]).await;
    let content = ana.put(&format!("{foreign}/content"), &json!({ "text": "Nosso" })).await;
    content.refused(404, "not_found", DOCUMENTS.not_found);
    let content = bia.put(&format!("{foreign}/content"), &json!({ "text": "Nosso" })).await;
    content.refused(403, "permission_denied", "Sem permissão");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = DOCUMENTS.at(&id(&admin.post(DOCUMENTS.path, &(DOCUMENTS.body)(&router)).await.ok(201)));
    for (place, value) in [
        ("name", json!(" ")),
        ("name", json!("n".repeat(201))),
        ("tags[0]", json!([" "])),
        ("tags[1]", json!(["a", "t".repeat(101)])),
        ("tags", json!(vec!["t"; 21])),
    ] {
        let field = place.split('[').next().unwrap();
        let mut body = (DOCUMENTS.body)(&router);
        body[field] = value.clone();
        assert_eq!(admin.post(DOCUMENTS.path, &body).await.invalid_fields(), [place], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [place], "{value}");
    }
    for (field, value) in [
        ("text", json!("")),
        ("text", json!(" \n")),
        ("mediaType", json!("application/pdf")),
        ("other", json!(1)),
    ] {
        let mut body = (DOCUMENTS.body)(&router);
        body[field] = value.clone();
        assert_eq!(admin.post(DOCUMENTS.path, &body).await.invalid_fields(), [field], "{value}");
        let mut content = json!({ "text": "Chá" });
        content[field] = value.clone();
        let replaced = admin.put(&format!("{path}/content"), &content).await;
        assert_eq!(replaced.invalid_fields(), [field], "{value}");
    }
    assert_eq!(admin.patch(&path, &json!({ "text": "Chá" })).await.invalid_fields(), ["text"]);
    for (field, value) in [
        ("query", json!("")),
        ("query", json!("q".repeat(501))),
        ("limit", json!(0)),
        ("limit", json!(51)),
        ("tags", json!("menu")),
        ("other", json!(1)),
    ] {
        let mut search = json!({ "routerId": router, "query": "chá" });
        search[field] = value.clone();
        assert_eq!(admin.post("/knowledge/search", &search).await.invalid_fields(), [field], "{value}");
    }
    let nowhere = admin.post(DOCUMENTS.path, &(DOCUMENTS.body)("cnothing")).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    assert_eq!(admin.get("/knowledge-documents?status=lost").await.invalid_fields(), ["status"]);
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let key = [("idempotency-key", "k-1")];
    let body = (DOCUMENTS.body)(&router);
    let first = admin.json("POST", DOCUMENTS.path, &key, &body).await.ok(201);
    assert_eq!(admin.json("POST", DOCUMENTS.path, &key, &body).await.ok(201), first);
    let other = admin.json("POST", DOCUMENTS.path, &key, &(DOCUMENTS.second)(&router)).await;
    assert_eq!(other.json()["code"], "idempotency_conflict");
    let list = admin.get(DOCUMENTS.path).await.ok(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

async fn a_page_is_read(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let page = "<h1>Trocas</h1><script>alert(1)</script><p>Trocas em até <b>30 dias</b>.</p>";
    let body = json!({ "routerId": router, "name": "Trocas", "mediaType": "text/html", "text": page });
    let made = admin.post(DOCUMENTS.path, &body).await.ok(201);
    until(&admin, &DOCUMENTS.at(&id(&made)), "ready").await;
    let found = find(&admin, json!({ "routerId": router, "query": "trocas" })).await;
    assert_eq!(found, ["# Trocas\n\nTrocas em até 30 dias."]);
    let empty = json!({ "routerId": router, "name": "Vazia", "mediaType": "text/html", "text": "<p></p>" });
    let made = admin.post(DOCUMENTS.path, &empty).await.ok(201);
    let failed = until(&admin, &DOCUMENTS.at(&id(&made)), "failed").await;
    assert_eq!(failed["error"], "the document has no text");
}

async fn large_contents(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let body = |media: &str, size: usize| json!({ "routerId": router, "name": "Grande", "mediaType": media, "text": "a\n".repeat(size / 2) });
    for (media, most) in [("text/plain", 5 << 20), ("text/html", 1 << 20)] {
        let over = admin.post(DOCUMENTS.path, &body(media, most + 2)).await;
        assert_eq!(over.invalid_fields(), ["text"], "{media}");
    }
    let made = admin.post(DOCUMENTS.path, &body("text/plain", 2 << 20)).await.ok(201);
    assert_eq!(made["size"], 2 << 20);
    admin.post(DOCUMENTS.path, &body("text/plain", 12 << 20)).await.assert_error(413);
}
