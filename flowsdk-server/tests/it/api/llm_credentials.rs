//! Credentials of model providers (spec A 2.2, 2.9, ruling S13).

use serde_json::{Value, json};

use super::building::{actions, details, id, records, router};
use crate::harness::{Api, Setup, everywhere};

everywhere!(life);
everywhere!(in process: what_is_refused, routers_name_what_is_there, scope, detaching_and_naming_at_once);

const KEY: &str = "sk-chave-muito-secreta";

fn credential(name: &str) -> Value {
    json!({ "name": name, "provider": "openai", "apiKey": KEY })
}

async fn life(setup: Setup) {
    setup.plant(KEY);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let answer = admin.post("/llm-credentials", &credential("Produção")).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api/llm-credentials/{}", id(&made)));
    assert_eq!((&made["provider"], &made["baseUrl"]), (&json!("openai"), &json!(null)));
    assert_eq!((&made["name"], &made["hasApiKey"]), (&json!("Produção"), &json!(true)));
    assert_eq!(made.as_object().unwrap().len(), 7, "{made}");
    let path = format!("/llm-credentials/{}", id(&made));
    assert_eq!(admin.get(&path).await.ok(200), made);
    // A key does not follow to another server.
    let moved = json!({ "provider": "openai_compatible", "baseUrl": "https://models.example/v1" });
    let changed = admin.patch(&path, &moved).await.ok(200);
    assert_eq!((&changed["baseUrl"], &changed["hasApiKey"]), (&moved["baseUrl"], &json!(false)));
    let changed = admin.patch(&path, &json!({ "apiKey": KEY, "name": "B" })).await.ok(200);
    assert_eq!((&changed["hasApiKey"], &changed["name"]), (&json!(true), &json!("B")));
    let second = admin.post("/llm-credentials", &credential("C")).await.ok(201);
    let list = admin.get("/llm-credentials").await;
    assert_eq!(list.ok(200)["items"], json!([second, changed]));
    assert!(!list.body.contains(KEY));
    admin.delete(&path).await.ok(204);
    for answer in [admin.get(&path).await, admin.patch(&path, &json!({})).await, admin.delete(&path).await] {
        answer.refused(404, "not_found", "Credencial não encontrada");
    }
    let log = records(&admin, "entityType=LLM_CREDENTIAL", 5).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "CREATE", "DELETE"]);
    let text = json!(log).to_string();
    assert!(!text.contains(KEY) && !text.contains("ncrypted"), "{text}");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let made = id(&admin.post("/llm-credentials", &credential("A")).await.ok(201));
    let path = format!("/llm-credentials/{made}");
    for (field, value) in [
        ("name", json!("")),
        ("provider", json!("other")),
        ("apiKey", json!("")),
        ("apiKey", json!(null)),
        ("apiKey", json!("a b")),
        ("apiKey", json!("a\r\nx: y")),
        ("baseUrl", json!("http://models.example")),
        ("baseUrl", json!("https://user:secret@models.example")),
        ("baseUrl", json!("https://models.example/?key=1")),
        ("baseUrl", json!("https://models.example/../x")),
        ("baseUrl", json!("models.example")),
        ("apiKeyEncrypted", json!("00:11")),
        ("routerId", json!("c1")),
    ] {
        let mut body = credential("B");
        body[field] = value.clone();
        assert_eq!(admin.post("/llm-credentials", &body).await.invalid_fields(), [field], "{value}");
        assert_eq!(admin.patch(&path, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
    assert_eq!(
        admin.post("/llm-credentials", &json!({})).await.invalid_fields(),
        ["apiKey", "name", "provider"]
    );
    // A server that is compatible has an address of its own.
    let nowhere = json!({ "name": "A", "provider": "openai_compatible", "apiKey": KEY });
    assert_eq!(admin.post("/llm-credentials", &nowhere).await.invalid_fields(), ["baseUrl"]);
    let nowhere = json!({ "provider": "openai_compatible" });
    assert_eq!(admin.patch(&path, &nowhere).await.invalid_fields(), ["baseUrl"]);
    let key = [("idempotency-key", "l-1")];
    let first = admin.json("POST", "/llm-credentials", &key, &credential("K")).await.ok(201);
    assert_eq!(admin.json("POST", "/llm-credentials", &key, &credential("K")).await.ok(201), first);
}

async fn routers_name_what_is_there(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let made = id(&admin.post("/llm-credentials", &credential("A")).await.ok(201));
    let (first, second) = (router(&admin, "A").await, router(&admin, "B").await);
    let unknown = json!({ "name": "C", "llmCredentialId": "cnothing" });
    for answer in
        [admin.post("/routers", &unknown).await, admin.patch(&format!("/routers/{first}"), &unknown).await]
    {
        answer.refused(422, "credential_unknown", "Credencial não encontrada");
        assert_eq!(details(&answer)[0].0, "llmCredentialId");
    }
    admin.patch("/routers/cnothing", &unknown).await.refused(404, "not_found", "Roteador não encontrado");
    for router in [&first, &second] {
        let named =
            admin.patch(&format!("/routers/{router}"), &json!({ "llmCredentialId": made })).await.ok(200);
        assert_eq!(named["llmCredentialId"], json!(made));
    }
    let path = format!("/llm-credentials/{made}");
    let refused = admin.delete(&path).await;
    refused.refused(409, "in_use", "Registro em uso");
    let mut named = details(&refused);
    named.sort();
    let expected = |router: &str| ("router.llmCredentialId".to_owned(), router.to_owned());
    let mut both = [expected(&first), expected(&second)];
    both.sort();
    assert_eq!(named, both);
    admin.delete(&format!("{path}?force=true")).await.ok(204);
    for router in [&first, &second] {
        assert!(admin.get(&format!("/routers/{router}")).await.ok(200)["llmCredentialId"].is_null());
    }
}

/// They belong to no router: who is confined to routers sees none.
async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let made = id(&admin.post("/llm-credentials", &credential("A")).await.ok(201));
    let mine = router(&admin, "A").await;
    let all = json!([{ "resource": "settings", "actions": ["read", "write"] }]);
    let (bia, eva) = (admin.member(&setup, &all, &[&mine]).await, admin.member(&setup, &all, &[]).await);
    let path = format!("/llm-credentials/{made}");
    for answer in [
        bia.get("/llm-credentials").await,
        bia.get(&path).await,
        bia.post("/llm-credentials", &credential("B")).await,
        bia.patch(&path, &json!({})).await,
        bia.delete(&path).await,
    ] {
        answer.assert_error(403);
        assert_eq!(answer.json()["code"], "resource_global");
    }
    eva.get(&path).await.ok(200);
    let forced = eva.delete(&format!("{path}?force=true")).await;
    forced.refused(403, "admin_only", "Acesso restrito a administradores");
    eva.delete(&path).await.ok(204);
}

/// However they interleave, no router is left with a credential that is gone.
async fn detaching_and_naming_at_once(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "R").await;
    let path = format!("/routers/{router}");
    for round in 0..8 {
        let made = id(&admin.post("/llm-credentials", &credential("A")).await.ok(201));
        let body = json!({ "llmCredentialId": made });
        admin.patch(&path, &body).await.ok(200);
        let gone = format!("/llm-credentials/{made}?force=true");
        let (named, deleted) =
            futures_util::future::join(admin.patch(&path, &body), admin.delete(&gone)).await;
        deleted.ok(204);
        assert!([200, 422].contains(&named.status), "{round}: {named:?}");
        let left = admin.get(&path).await.ok(200);
        assert!(left["llmCredentialId"].is_null(), "{round}: {left}");
    }
}
