//! Files of knowledge: texts, pages and PDFs.

use serde_json::{Value, json};

use super::building::{id, router};
use super::knowledge::{find, until};
use crate::harness::http::Answer;
use crate::harness::{Api, Setup, everywhere};

everywhere!(a_pdf_is_uploaded_and_found);
everywhere!(in process: files_are_documents, what_is_no_file, a_file_takes_the_place_of_a_text, twice, whose_they_are, hostile_pdfs);

pub(super) const PLAIN: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../flowsdk-outside/tests/pdfs/plain.pdf"));
const COMPRESSED: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../flowsdk-outside/tests/pdfs/compressed.pdf"));
const ENCRYPTED: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../flowsdk-outside/tests/pdfs/encrypted.pdf"));
const PICTURE: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../flowsdk-outside/tests/pdfs/picture.pdf"));
const BOMB: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../flowsdk-outside/tests/pdfs/bomb.pdf"));

const FILES: &str = "/knowledge-documents/files";

async fn send(api: &Api, method: &str, path: &str, kind: &str, file: &[u8]) -> Answer {
    api.send(method, path, &[("content-type", kind)], Some(file)).await
}

async fn upload(api: &Api, query: &str, kind: &str, file: &[u8]) -> Answer {
    send(api, "POST", &format!("{FILES}?{query}"), kind, file).await
}

pub(super) fn at(document: &Value) -> String {
    format!("/knowledge-documents/{}", id(document))
}

async fn a_pdf_is_uploaded_and_found(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let query = format!("routerId={router}&filename=card%C3%A1pio.pdf&tags=menu,%20pre%C3%A7os");
    let answer = upload(&admin, &query, "application/pdf", PLAIN).await;
    let made = answer.ok(201);
    assert_eq!(answer.headers["location"], format!("/api{}", at(&made)));
    assert_eq!((&made["name"], &made["tags"]), (&json!("cardápio.pdf"), &json!(["menu", "preços"])));
    assert_eq!((&made["mediaType"], &made["size"]), (&json!("application/pdf"), &json!(PLAIN.len())));
    until(&admin, &at(&made), "ready").await;
    let found = find(&admin, json!({ "routerId": router, "query": "quanto custa o café?" })).await;
    assert!(found[0].contains("O café custa 9 reais."), "{found:?}");
    let log = admin.get("/audit-logs?entityType=KNOWLEDGE_DOCUMENT&action=CREATE").await.ok(200);
    assert_eq!(log["items"][0]["entityId"], made["id"]);
}

async fn files_are_documents(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let unsaid = "application/octet-stream";
    for (filename, kind, file, media_type, expected) in [
        ("menu.md", unsaid, "# Chá\n\nCusta 12.".as_bytes(), "text/markdown", "# Chá\n\nCusta 12."),
        ("menu.html", unsaid, b"<h1>Caf&eacute;</h1>", "text/html", "# Café"),
        ("menu.bin", "text/plain; charset=iso-8859-1", b"P\xe3o custa 3.", "text/plain", "Pão custa 3."),
        ("compressed", unsaid, COMPRESSED, "application/pdf", "Cardápio\nO chá verde custa 12 reais."),
    ] {
        let made =
            upload(&admin, &format!("routerId={router}&filename={filename}"), kind, file).await.ok(201);
        assert_eq!(made["mediaType"], media_type, "{filename}");
        until(&admin, &at(&made), "ready").await;
        let found = find(&admin, json!({ "routerId": router, "query": expected, "limit": 1 })).await;
        assert!(found[0].contains(expected), "{filename}: {found:?}");
        admin.delete(&at(&made)).await.ok(204);
    }
}

async fn what_is_no_file(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let text = json!({ "routerId": router, "name": "Menu", "text": "Chá" });
    let content = format!("{}/file", at(&admin.post("/knowledge-documents", &text).await.ok(201)));
    let wide = [b"%PDF-".to_vec(), vec![b' '; 20 << 20]].concat();
    for (filename, kind, file, status, code) in [
        ("a.txt", "text/plain", &b""[..], 422, "knowledge_empty"),
        ("a.txt", "text/plain", b" \n", 422, "knowledge_empty"),
        ("a.docx", "application/octet-stream", b"PK", 422, "knowledge_type_refused"),
        ("a.png", "image/png", b"PNG", 422, "knowledge_type_refused"),
        ("a.pdf", "application/octet-stream", b"PK", 422, "knowledge_type_mismatch"),
        ("a.txt", "application/pdf", b"Tea", 422, "knowledge_type_mismatch"),
        ("a.txt", "text/plain", PLAIN, 422, "knowledge_type_mismatch"),
        ("a.txt", "text/plain", b"ch\xe1", 422, "knowledge_charset"),
        ("a.html", "text/html", &wide[5..(1 << 20) + 6], 422, "knowledge_too_large"),
        ("a.pdf", "application/pdf", &wide, 413, "payload_too_large"),
    ] {
        let query = format!("routerId={router}&filename={filename}");
        let refused = upload(&admin, &query, kind, file).await;
        assert_eq!((refused.status, &refused.json()["code"]), (status, &json!(code)), "{filename} {kind}");
        let path = format!("{content}?filename={filename}");
        let refused = send(&admin, "PUT", &path, kind, file).await;
        assert_eq!((refused.status, &refused.json()["code"]), (status, &json!(code)), "{filename} {kind}");
    }
    let many = vec!["t"; 21].join(",");
    for (query, field) in [
        ("name=Menu".to_owned(), "routerId"),
        (format!("routerId={router}"), "name"),
        (format!("routerId={router}&name=%20"), "name"),
        (format!("routerId={router}&filename={}", "n".repeat(256)), "filename"),
        (format!("routerId={router}&name=a&tags={many}"), "tags"),
        (format!("routerId={router}&name=a&tags={}", "t".repeat(101)), "tags[0]"),
    ] {
        let refused = upload(&admin, &query, "text/plain", b"Tea").await;
        assert!(refused.invalid_fields().contains(&field.to_owned()), "{query}");
    }
    let nowhere = upload(&admin, "routerId=cnothing&name=a", "text/plain", b"Tea").await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
}

async fn a_file_takes_the_place_of_a_text(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let text = json!({ "routerId": router, "name": "Menu", "text": "Chá custa 1 real." });
    let path = at(&admin.post("/knowledge-documents", &text).await.ok(201));
    let replaced = send(&admin, "PUT", &format!("{path}/file"), "application/pdf", PLAIN).await.ok(200);
    assert_eq!((&replaced["revision"], &replaced["mediaType"]), (&json!(2), &json!("application/pdf")));
    assert_eq!(replaced["name"], "Menu");
    until(&admin, &path, "ready").await;
    let found = find(&admin, json!({ "routerId": router, "query": "chá" })).await;
    assert!(found.iter().all(|text| !text.contains("1 real.")), "{found:?}");
    let log = admin.get("/audit-logs?entityType=KNOWLEDGE_DOCUMENT&action=UPDATE").await.ok(200);
    assert_eq!(log["items"][0]["entityId"], replaced["id"]);
    // And back.
    admin.put(&format!("{path}/content"), &json!({ "text": "Chá custa 2 reais." })).await.ok(200);
    until(&admin, &path, "ready").await;
    assert_eq!(find(&admin, json!({ "routerId": router, "query": "chá" })).await, ["Chá custa 2 reais."]);
}

async fn twice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let path = format!("{FILES}?routerId={router}&name=Menu");
    let headers = [("content-type", "text/plain"), ("idempotency-key", "k-1")];
    let send = async |file: &'static [u8]| admin.send("POST", &path, &headers, Some(file)).await;
    let first = send(b"Tea").await.ok(201);
    assert_eq!(send(b"Tea").await.ok(201), first);
    assert_eq!(send(b"Coffee").await.json()["code"], "idempotency_conflict");
}

async fn whose_they_are(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let foreign = upload(&admin, &format!("routerId={theirs}&name=a"), "text/plain", b"Tea").await.ok(201);
    let foreign = format!("{}/file", at(&foreign));
    let write = json!([{ "resource": "flows", "actions": ["read", "write"] }]);
    let ana = admin.member(&setup, &write, &[&mine]).await;
    upload(&ana, &format!("routerId={mine}&name=a"), "text/plain", b"Tea").await.ok(201);
    let beyond = upload(&ana, &format!("routerId={theirs}&name=a"), "text/plain", b"Tea").await;
    beyond.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let beyond = send(&ana, "PUT", &foreign, "text/plain", b"Tea").await;
    beyond.refused(404, "not_found", "Documento não encontrado");
    let read = json!([{ "resource": "flows", "actions": ["read"] }]);
    let bia = admin.member(&setup, &read, &[&mine]).await;
    let denied = upload(&bia, &format!("routerId={mine}&name=a"), "text/plain", b"Tea").await;
    denied.refused(403, "permission_denied", "Sem permissão");
    let denied = send(&bia, "PUT", &foreign, "text/plain", b"Tea").await;
    denied.refused(403, "permission_denied", "Sem permissão");
}

/// The server lives on, and the next PDF is read.
async fn hostile_pdfs(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let query = format!("routerId={router}&name=a");
    for (file, expected) in [
        (BOMB, "the PDF needs too much memory"),
        (ENCRYPTED, "the PDF is encrypted"),
        (PICTURE, "the document has no text"),
        (&PLAIN[..PLAIN.len() / 2], "the PDF cannot be read"),
    ] {
        let made = upload(&admin, &query, "application/pdf", file).await.ok(201);
        let failed = until(&admin, &at(&made), "failed").await;
        assert_eq!((&failed["error"], &failed["chunks"]), (&json!(expected), &json!(0)));
    }
    let made = upload(&admin, &query, "application/pdf", PLAIN).await.ok(201);
    until(&admin, &at(&made), "ready").await;
}
