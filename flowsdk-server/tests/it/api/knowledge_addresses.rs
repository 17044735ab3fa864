//! Addresses of knowledge.

use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::building::{id, router};
use super::knowledge::{find, until};
use super::knowledge_files::{PLAIN, at};
use crate::harness::{Api, Server, Setup, everywhere};

everywhere!(an_address_is_fetched_and_found);
everywhere!(in process:
    what_is_refused,
    what_is_not_public,
    faults_of_servers,
    a_busy_server_is_asked_again,
    whose_they_are,
);

const DOCUMENTS: &str = "/knowledge-documents";

fn reaching(setup: Setup) -> Setup {
    setup.with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1")
}

async fn answers(site: &MockServer, at: &str, answer: ResponseTemplate) {
    Mock::given(path(at)).respond_with(answer).mount(site).await;
}

fn page(kind: &str, body: impl Into<Vec<u8>>) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, kind)
}

async fn add(api: &Api, router: &str, address: &str) -> Value {
    api.post(DOCUMENTS, &json!({ "routerId": router, "name": "Page", "address": address })).await.ok(201)
}

async fn an_address_is_fetched_and_found(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let site = MockServer::start().await;
    let latin = page("text/html; charset=ISO-8859-1", b"<h1>Trocas</h1><p>At\xe9 30 dias.</p>".to_vec());
    answers(&site, "/trocas", latin).await;
    let moved = ResponseTemplate::new(301).insert_header("location", "/trocas");
    answers(&site, "/old", moved).await;
    answers(&site, "/menu", page("application/pdf", PLAIN)).await;

    let address = format!("{}/old?lang=pt", site.uri());
    let made = add(&admin, &router, &address).await;
    assert_eq!((&made["address"], &made["fetchedAt"]), (&json!(address), &Value::Null));
    assert_eq!((&made["status"], &made["size"]), (&json!("waiting"), &json!(0)));
    let ready = until(&admin, &at(&made), "ready").await;
    assert!(ready["fetchedAt"].is_string(), "{ready}");
    assert_eq!((&ready["mediaType"], &ready["size"]), (&json!("text/html"), &json!(35)));
    let trocas = json!({ "routerId": router, "query": "trocas" });
    assert_eq!(find(&admin, trocas).await, ["# Trocas\n\nAté 30 dias."]);

    let content = json!({ "address": format!("{}/menu", site.uri()) });
    let replaced = admin.put(&format!("{}/content", at(&made)), &content).await.ok(200);
    assert_eq!((&replaced["revision"], &replaced["fetchedAt"]), (&json!(2), &Value::Null));
    let ready = until(&admin, &at(&made), "ready").await;
    assert_eq!(ready["mediaType"], "application/pdf");
    let found = find(&admin, json!({ "routerId": router, "query": "quanto custa o café?" })).await;
    assert!(found[0].contains("O café custa 9 reais."), "{found:?}");
    let text = admin.put(&format!("{}/content", at(&made)), &json!({ "text": "Chá" })).await.ok(200);
    assert_eq!((&text["address"], &text["fetchedAt"]), (&Value::Null, &Value::Null));
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let made =
        admin.post(DOCUMENTS, &json!({ "routerId": router, "name": "a", "text": "Chá" })).await.ok(201);
    let address = "https://a.example/";
    for (content, field) in [
        (json!({}), "text"),
        (json!({ "text": "Chá", "address": address }), "text"),
        (json!({ "address": address, "mediaType": "text/html" }), "mediaType"),
        (json!({ "text": "%PDF-", "mediaType": "application/pdf" }), "mediaType"),
        (json!({ "address": null }), "address"),
        (json!({ "address": "a.example" }), "address"),
        (json!({ "address": "ftp://a.example/" }), "address"),
        (json!({ "address": "file:///etc/passwd" }), "address"),
        (json!({ "address": "https://ana:secret@a.example/" }), "address"),
        (json!({ "address": "https://a.example/#menu" }), "address"),
        (json!({ "address": format!("https://a.example/{}", "a".repeat(2_048)) }), "address"),
    ] {
        let mut body = content.clone();
        body["routerId"] = json!(router);
        body["name"] = json!("Page");
        assert_eq!(admin.post(DOCUMENTS, &body).await.invalid_fields(), [field], "{content}");
        let replaced = admin.put(&format!("{}/content", at(&made)), &content).await;
        assert_eq!(replaced.invalid_fields(), [field], "{content}");
    }
}

/// Returns why a document failed.
async fn failure(admin: &Api, made: &Value) -> String {
    let failed = until(admin, &at(made), "failed").await;
    failed["error"].as_str().expect("an error").to_owned()
}

async fn what_is_not_public(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let site = MockServer::start().await;
    let inward = "http://169.254.169.254/latest/meta-data";
    let redirect = ResponseTemplate::new(302).insert_header("location", inward);
    answers(&site, "/inward", redirect).await;
    answers(&site, "/file", ResponseTemplate::new(302).insert_header("location", "file:///etc/passwd")).await;
    answers(&site, "/round", ResponseTemplate::new(302).insert_header("location", "/round")).await;
    for (address, expected) in [
        (inward.to_owned(), "the server's address is not public"),
        ("http://[::1]:9/".to_owned(), "the server's address is not public"),
        (format!("{}/inward", site.uri()), "the server's address is not public"),
        (format!("{}/file", site.uri()), "only http and https"),
        (format!("{}/round", site.uri()), "more than 5 redirects"),
    ] {
        let error = failure(&admin, &add(&admin, &router, &address).await).await;
        assert_eq!(error, format!("the address cannot be read: {expected}"), "{address}");
        assert!(!error.contains("169.254"), "{error}");
    }
}

async fn faults_of_servers(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let site = MockServer::start().await;
    answers(&site, "/picture", page("image/png", "PNG")).await;
    answers(&site, "/unnamed", ResponseTemplate::new(200).set_body_bytes(b"PK")).await;
    answers(&site, "/large", page("application/pdf", vec![b' '; (20 << 20) + 1])).await;
    answers(&site, "/page", page("text/html", vec![b' '; (1 << 20) + 1])).await;
    for (at, expected) in [
        ("/missing", "its server answers with status 404"),
        ("/picture", "it is neither text, Markdown, HTML nor PDF"),
        ("/unnamed", "it is neither text, Markdown, HTML nor PDF"),
        ("/large", "it has more than 20971520 bytes"),
        ("/page", "it is too large: at most 20 MiB of PDF, 5 MiB of text and 1 MiB of HTML"),
    ] {
        let made = add(&admin, &router, &format!("{}{at}", site.uri())).await;
        let error = failure(&admin, &made).await;
        assert_eq!(error, format!("the address cannot be read: {expected}"), "{at}");
    }
}

async fn a_busy_server_is_asked_again(setup: Setup) {
    let setup = reaching(setup);
    let server: Server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let site = MockServer::start().await;
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "90");
    Mock::given(path("/menu")).respond_with(busy).up_to_n_times(1).mount(&site).await;
    answers(&site, "/menu", page("text/plain", "Chá custa 12.")).await;
    let made = add(&admin, &router, &format!("{}/menu", site.uri())).await;
    until(&admin, &at(&made), "fetching").await;
    let ready = crate::harness::eventually("ready", || async {
        server.advance(Duration::from_secs(60)).await;
        let document = admin.get(&at(&made)).await.ok(200);
        (document["status"] == "ready").then_some(document)
    })
    .await;
    assert_eq!(ready["error"], Value::Null);
    assert_eq!(site.received_requests().await.unwrap().len(), 2);
    assert_eq!(find(&admin, json!({ "routerId": router, "query": "chá" })).await, ["Chá custa 12."]);
}

async fn whose_they_are(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let site = MockServer::start().await;
    answers(&site, "/menu", page("text/plain", "Chá custa 12.")).await;
    let address = format!("{}/menu", site.uri());
    let foreign = add(&admin, &theirs, &address).await;
    until(&admin, &at(&foreign), "ready").await;
    let write = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let ana = admin.member(&setup, &write, &[&mine]).await;
    let beyond = json!({ "routerId": theirs, "name": "a", "address": address });
    ana.post(DOCUMENTS, &beyond).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let content = ana.put(&format!("{}/content", at(&foreign)), &json!({ "address": address })).await;
    content.refused(404, "not_found", "Documento não encontrado");
    let own = add(&ana, &mine, &address).await;
    until(&ana, &at(&own), "ready").await;
    assert_ne!(id(&own), id(&foreign));
    assert_eq!(find(&ana, json!({ "routerId": mine, "query": "chá" })).await, ["Chá custa 12."]);
}
