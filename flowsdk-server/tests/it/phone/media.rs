//! Files by phone, against the provider in the box: those that contacts send, and those that flows send.

use std::time::Duration;

use flowsdk_core::time::Timestamp;
use flowsdk_server::simulator::{MediaFault, SentFile};
use serde_json::{Value, json};

use super::sending::{PHONE, World};
use super::transcript;
use crate::api::building::{actions, id, published, records};
use crate::harness::http::{self, Answer};
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(a_file_of_a_contact_is_fetched_and_holds_nobody_up);
everywhere!(
    in process:
    what_the_provider_does_wrong_is_tried_again_or_said,
    a_file_waits_for_the_token_of_its_number,
    an_uploaded_file_is_sent_by_link,
    links_are_of_their_file_and_time,
    whoever_guesses_links_is_answered_no_more,
    what_is_no_such_file_is_refused,
    files_are_of_their_tenant,
    files_go_with_their_messages,
    files_of_contacts_have_a_time,
);

/// Texts, so that answers can be compared as texts.
const VOICE: &[u8] = b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead voice";
const PDF: &[u8] = b"%PDF-1.7 the menu of the day";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";

impl World {
    fn sends(&self, mime_type: &str, sent: SentFile, content: &'static [u8]) {
        self.provider.say_file("111", PHONE, sent, mime_type, content.into());
    }

    /// The message of the phone with a file, once that has this status.
    async fn received(&self, status: &str) -> Value {
        eventually("the file stands so", || async {
            let said = transcript(&self.admin, PHONE, 1).await;
            let message = said.into_iter().find(|message| message["media"].is_object())?;
            (message["media"]["status"] == status).then_some(message)
        })
        .await
    }

    async fn upload(&self, query: &str, headers: &[(&str, &str)], content: &[u8]) -> Answer {
        let path = format!("/media?routerId={}{query}", self.shop.router);
        self.admin.send("POST", &path, headers, Some(content)).await
    }

    async fn content(&self, link: &Value, headers: &[(&str, &str)]) -> Answer {
        http::get(self.server.addr, link.as_str().expect("a link"), headers).await
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

async fn a_file_of_a_contact_is_fetched_and_holds_nobody_up(setup: Setup) {
    setup.plant("good-token");
    let world = World::new(setup, false).await;
    // The first two readings fail; the text behind it is answered all the same.
    world.provider.fail_media_next(MediaFault::Unavailable);
    let voice = SentFile { caption: None, ..SentFile::default() };
    world.sends("audio/ogg; codecs=opus", voice, VOICE);
    world.says("ouviu?");
    let sent = world.sent(2).await;
    assert!(sent.iter().any(|one| one.body["text"]["body"] == "eco ouviu?"), "{sent:?}");
    let message = world.received("stored").await;
    let media = &message["media"];
    assert_eq!(message["type"], "audio");
    assert_eq!(
        (&media["kind"], &media["mimeType"], &media["size"], &media["origin"], &media["failure"]),
        (&json!("audio"), &json!("audio/ogg"), &json!(VOICE.len()), &json!("contact"), &json!(null))
    );
    assert!(media["attempts"].as_u64().unwrap() >= 1, "{media}");
    assert_eq!(media["messageId"], message["id"]);
    let answer = world.content(&media["link"], &[]).await;
    assert_eq!((answer.status, &*answer.body), (200, text(VOICE)));
    assert_eq!(answer.headers["content-type"], "audio/ogg");
    assert_eq!(answer.headers["content-length"], VOICE.len().to_string());
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert!(answer.headers["content-security-policy"].contains("sandbox"));
    let part = world.content(&media["link"], &[("range", "bytes=0-3")]).await;
    assert_eq!((part.status, &*part.body), (206, "OggS"));
    assert_eq!(part.headers["content-range"], format!("bytes 0-3/{}", VOICE.len()));
    let beyond = world.content(&media["link"], &[("range", "bytes=9999-")]).await;
    beyond.refused(416, "range_invalid", "O arquivo não tem esta parte");
    let tag = answer.headers["etag"].clone();
    assert_eq!(world.content(&media["link"], &[("if-none-match", &tag)]).await.status, 304);
    let path = format!("/media/{}", media["id"].as_str().unwrap());
    assert_eq!(world.admin.get(&path).await.ok(200)["status"], "stored");
}

async fn what_the_provider_does_wrong_is_tried_again_or_said(setup: Setup) {
    let world = World::new(setup, false).await;
    let mut admin = world.admin.clone();
    // The newest of so many files, once it stands so.
    let newest = async |admin: &Api, count: usize, status: &str, attempts: u64| {
        eventually("the file stands so", || async {
            let files = admin.get("/media").await.ok(200)["items"].as_array()?.clone();
            let file = files.first()?.clone();
            let stands = (files.len(), file["status"].as_str()?, file["attempts"].as_u64()?);
            (stands == (count, status, attempts)).then_some(file)
        })
        .await
    };
    let document = || SentFile { filename: Some("../../cardápio.pdf".to_owned()), ..SentFile::default() };

    // An address that has ended is asked for anew within the same attempt.
    world.provider.fail_media_next(MediaFault::Expired);
    world.sends("application/pdf", document(), PDF);
    let file = newest(&admin, 1, "stored", 1).await;
    assert_eq!((&file["kind"], &file["filename"]), (&json!("document"), &json!("cardápio.pdf")));

    // A content that breaks off, or is another one, is not kept.
    for (count, fault) in [(2, MediaFault::Broken), (3, MediaFault::Damaged)] {
        world.provider.fail_media_next(fault);
        world.sends("application/pdf", document(), PDF);
        let file = newest(&admin, count, "pending", 1).await;
        assert_eq!((&file["link"], &file["size"]), (&json!(null), &json!(null)));
        world.server.advance(Duration::from_secs(6)).await;
        newest(&admin, count, "stored", 2).await;
    }

    // A token goes to no other host.
    world.provider.fail_media_next(MediaFault::ForeignHost);
    world.sends("application/pdf", document(), PDF);
    assert_eq!(newest(&admin, 4, "failed", 1).await["failure"], "refused");

    // What the provider has deleted: an account without a right to it is told the same, so it is asked for a day.
    let gone = json!({ "type": "image", "image": { "id": "404404", "mime_type": "image/png" } });
    world.provider.say("111", PHONE, "Ana", gone);
    newest(&admin, 5, "pending", 1).await;
    world.server.advance(Duration::from_secs(25 * 3_600)).await;
    // Tokens end sooner.
    admin = Api::admin(&world.setup, &world.server).await;
    assert_eq!(newest(&admin, 5, "failed", 2).await["failure"], "gone");
    let failed = admin.get(&format!("/media?status=failed&routerId={}", world.shop.router)).await.ok(200);
    assert_eq!(failed["items"].as_array().unwrap().len(), 2);

    // After the time for which the provider keeps a file nobody tries any more.
    world.provider.fail_media_next(MediaFault::Unavailable);
    world.provider.fail_media_next(MediaFault::Unavailable);
    world.sends("application/pdf", document(), PDF);
    newest(&admin, 6, "pending", 1).await;
    world.server.advance(Duration::from_secs(8 * 24 * 3_600)).await;
    admin = Api::admin(&world.setup, &world.server).await;
    assert_eq!(newest(&admin, 6, "failed", 2).await["failure"], "unreachable");
}

async fn a_file_waits_for_the_token_of_its_number(setup: Setup) {
    let world = World::new(setup, false).await;
    world.give_token("revoked").await;
    world.sends("audio/ogg", SentFile::default(), VOICE);
    let file = eventually("it was tried", || async {
        let page = world.admin.get("/media").await.ok(200);
        let file = page["items"].as_array()?.first()?.clone();
        (file["attempts"] == 1).then_some(file)
    })
    .await;
    assert_eq!((&file["status"], &file["failure"]), (&json!("pending"), &json!(null)));
    world.give_token("good-token").await;
    world.server.advance(Duration::from_secs(6)).await;
    world.received("stored").await;
}

fn sends_files(image: &str, document: &str) -> Value {
    json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "input": {}, "defaultOutput": { "blockId": "a" }, "contents": [
            { "type": "image", "image": { "id": image, "caption": "Olá" } },
            { "type": "interactive", "interactive": { "type": "button",
                "header": { "type": "document", "document": { "id": document, "filename": "menu.pdf" } },
                "body": { "text": "O cardápio" },
                "action": { "buttons": [{ "type": "reply", "reply": { "id": "ok", "title": "Ok" } }] } } },
            { "type": "audio", "audio": { "id": "4711" } }] }] })
}

async fn an_uploaded_file_is_sent_by_link(setup: Setup) {
    let world = World::new(setup.with("PUBLIC_URL", "https://chat.example.com/base/"), false).await;
    let image = world.upload("&filename=logo.png", &[("content-type", "image/png")], PNG).await;
    assert_eq!(image.headers["location"], format!("/api/media/{}", image.ok(201)["id"].as_str().unwrap()));
    let image = image.ok(201);
    let document = world.upload("&filename=menu.pdf", &[], PDF).await.ok(201);
    assert_eq!(
        [&image["kind"], &image["status"], &image["mimeType"], &image["origin"], &document["kind"]],
        ["image", "stored", "image/png", "upload", "document"]
    );
    let definition = sends_files(image["id"].as_str().unwrap(), document["id"].as_str().unwrap());
    let flow = published(&world.admin, &world.shop.router, "Arquivos", &definition).await;
    let path = format!("/routers/{}", world.shop.router);
    world.admin.patch(&path, &json!({ "initialFlowId": flow })).await.ok(200);
    world.says("oi");
    let sent = world.sent(3).await;
    let link = sent[0].body["image"]["link"].as_str().unwrap();
    assert_eq!((&sent[0].body["image"]["caption"], sent[0].body["image"].get("id")), (&json!("Olá"), None));
    let path = link.strip_prefix("https://chat.example.com/base").expect("the public address");
    assert!(path.starts_with(&format!("/media/{}/content?", image["id"].as_str().unwrap())), "{path}");
    let header = &sent[1].body["interactive"]["header"]["document"];
    let path = header["link"].as_str().unwrap().strip_prefix("https://chat.example.com/base").unwrap();
    assert_eq!(header["filename"], "menu.pdf");
    let answer = world.content(&path.into(), &[]).await;
    assert_eq!((answer.status, &*answer.body), (200, text(PDF)));
    assert_eq!(answer.headers["content-disposition"], "inline; filename=\"menu.pdf\"");
    // An id of digits is the provider's own.
    assert_eq!(sent[2].body["audio"], json!({ "id": "4711" }));
    // Whoever reads the chat has links, too.
    let said = transcript(&world.admin, PHONE, 4).await;
    let shown = &said.iter().find(|message| message["type"] == "image").unwrap()["content"]["image"];
    assert_eq!(shown["id"], image["id"]);
    assert!(shown["link"].as_str().unwrap().starts_with("https://chat.example.com/base/media/"), "{shown}");
}

async fn links_are_of_their_file_and_time(setup: Setup) {
    let world = World::new(setup, false).await;
    let one = world.upload("&filename=a.pdf", &[], PDF).await.ok(201);
    let other = world.upload("&filename=b.pdf", &[], PDF).await.ok(201);
    let link = one["link"].as_str().unwrap().to_owned();
    let (head, signature) = link.split_once("&signature=").unwrap();
    let of_other = link.replace(one["id"].as_str().unwrap(), other["id"].as_str().unwrap());
    let (path, expires) = head.split_once("?expires=").unwrap();
    let later: i64 = expires.parse::<i64>().unwrap() + 3_600;
    let signed = |digits: &str| format!("{head}&signature={digits}");
    for wrong in [
        of_other,
        path.to_owned(),
        head.to_owned(),
        format!("{path}?expires={later}&signature={signature}"),
        format!("{path}?expires=x&signature={signature}"),
        signed(""),
        signed("zz"),
        signed(&"0".repeat(64)),
        signed(&signature[..62]),
        link.replace(one["id"].as_str().unwrap(), "unknown"),
        link.replace(one["id"].as_str().unwrap(), "..%2F..%2Fsecrets.json"),
    ] {
        let answer = world.content(&wrong.as_str().into(), &[]).await;
        assert!(matches!(answer.status, 403 | 404), "{wrong}: {answer:?}");
        assert!(!answer.body.contains("menu"), "{wrong}");
    }
    assert_eq!(world.content(&link.as_str().into(), &[]).await.status, 200);
    // It counts below both prefixes of the API, and to its end.
    let twin = format!("/api{link}");
    assert_eq!(world.content(&twin.into(), &[]).await.status, 200);
    let ends_at = one["linkExpiresAt"].as_str().unwrap();
    assert_eq!(Timestamp::from_millis(expires.parse::<i64>().unwrap() * 1_000).to_iso(), ends_at);
    world.server.advance(Duration::from_secs(2 * 3_600)).await;
    let over = world.content(&link.into(), &[]).await;
    over.refused(403, "link_invalid", "O link é inválido ou expirou");
}

async fn whoever_guesses_links_is_answered_no_more(setup: Setup) {
    let setup = setup.with("REFUSALS_PER_ADDRESS", "3");
    let world = World::new(setup, false).await;
    for _ in 0..3 {
        let guessed = world.content(&json!("/media/guessed/content?expires=1&signature=x"), &[]).await;
        assert!(matches!(guessed.status, 403 | 404), "{guessed:?}");
    }
    let refused = world.content(&json!("/media/guessed/content?expires=1&signature=x"), &[]).await;
    refused.refused(429, "rate_limited", "Muitas requisições; tente novamente mais tarde");
    assert_eq!(refused.headers.get("retry-after").map(String::as_str), Some("60"));
    // Forms count apart.
    for status in [432, 432, 432, 429] {
        let form = world.admin.post("/phone/forms/nothing", &json!({})).await;
        assert_eq!(form.status, status);
    }
}

async fn what_is_no_such_file_is_refused(setup: Setup) {
    let world = World::new(setup, false).await;
    let html = b"<!DOCTYPE html><script>alert(1)</script>";
    for (query, content_type, content, code) in [
        ("&filename=photo.png", "image/png", &html[..], "media_type_refused"),
        ("&filename=photo.png", "", PDF, "media_type_mismatch"),
        ("&filename=a.pdf", "image/png", PDF, "media_type_mismatch"),
        ("&filename=run.pdf", "", b"MZ\x90\0\x03\0\0\0", "media_type_refused"),
        ("&kind=image", "", PDF, "media_kind_refused"),
        ("&kind=sticker", "", PNG, "media_kind_refused"),
        ("", "", b"", "media_empty"),
    ] {
        let headers = [("content-type", content_type)];
        let headers = if content_type.is_empty() { &[][..] } else { &headers };
        let answer = world.upload(query, headers, content).await;
        assert_eq!((answer.status, &answer.json()["code"]), (422, &json!(code)), "{query} {answer:?}");
    }
    let large = [PNG, &vec![7; 5 << 20]].concat();
    let answer = world.upload("", &[], &large).await;
    assert_eq!((answer.status, &answer.json()["code"]), (422, &json!("media_too_large")), "{answer:?}");
    let answer = world.upload("&kind=paper&filename=", &[], PNG).await;
    assert_eq!(answer.invalid_fields(), ["kind"]);
    let answer = world.admin.send("POST", "/media", &[], Some(PNG)).await;
    assert_eq!(answer.invalid_fields(), ["routerId"]);
    let answer = world.admin.send("POST", "/media?routerId=unknown", &[], Some(PNG)).await;
    assert_eq!((answer.status, &answer.json()["code"]), (422, &json!("router_unknown")));
    // Nothing is left of what was refused.
    assert_eq!(world.admin.get("/media").await.ok(200)["items"], json!([]));
    let traversal = world.upload("&filename=..%2F..%2Fetc%2Fpasswd", &[], PDF).await.ok(201);
    assert_eq!(traversal["filename"], "passwd");
    // A page among the documents is saved, and runs nowhere.
    let csv = world.upload("&filename=a.csv", &[("content-type", "text/csv")], b"a;b\n1;2\n").await.ok(201);
    let answer = world.content(&csv["link"], &[]).await;
    assert_eq!(answer.headers["content-type"], "application/octet-stream");
    assert_eq!(answer.headers["content-disposition"], "attachment; filename=\"a.csv\"");
}

async fn files_are_of_their_tenant(setup: Setup) {
    let world = World::new(setup, false).await;
    let other = id(&world.admin.post("/routers", &json!({ "name": "Outra" })).await.ok(201));
    let may = json!([{ "resource": "chats", "actions": ["read", "write", "admin"] }]);
    let stranger = world.admin.member(&world.setup, &may, &[&other]).await;
    let file = world.upload("&filename=a.pdf", &[], PDF).await.ok(201);
    let path = format!("/media/{}", file["id"].as_str().unwrap());
    stranger.get(&path).await.refused(404, "not_found", "Arquivo não encontrado");
    stranger.delete(&path).await.refused(404, "not_found", "Arquivo não encontrado");
    assert_eq!(stranger.get("/media").await.ok(200)["items"], json!([]));
    let theirs = format!("/media?routerId={}", world.shop.router);
    assert_eq!(stranger.get(&theirs).await.status, 403);
    assert_eq!(stranger.send("POST", &theirs, &[], Some(PDF)).await.status, 403);
    // The size tells a stranger nothing either. The client asks before it sends the body.
    let larger = [("content-length", "104857601"), ("expect", "100-continue")];
    let refused = stranger.send("POST", &theirs, &larger, None).await;
    refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let refused = world.admin.send("POST", &theirs, &larger, None).await;
    refused.refused(413, "payload_too_large", "O corpo pode ter no máximo 104857600 bytes");
    let reader = json!([{ "resource": "chats", "actions": ["read"] }]);
    let reader = world.admin.member(&world.setup, &reader, &[&world.shop.router]).await;
    assert_eq!(reader.get(&path).await.ok(200)["id"], file["id"]);
    assert_eq!(reader.send("POST", &theirs, &[], Some(PDF)).await.status, 403);
    assert_eq!(reader.delete(&path).await.status, 403);
    let nobody = Api::anonymous(&world.server);
    assert_eq!(nobody.get(&path).await.status, 401);

    // A flow of another router says the id: no link of it holds.
    let definition = sends_files(file["id"].as_str().unwrap(), file["id"].as_str().unwrap());
    let channel = json!({ "routerId": other, "name": "Web" });
    let channel = id(&world.admin.post("/webchat/channels", &channel).await.ok(201));
    let flow = published(&world.admin, &other, "Alheio", &definition).await;
    world.admin.patch(&format!("/routers/{other}"), &json!({ "initialFlowId": flow })).await.ok(200);
    let mut visitor = crate::api::building::visitor(&world.server, &channel).await;
    visitor.say("oi").await;
    let said = visitor.next_messages(1).await.remove(0);
    let link = said["image"]["link"].clone();
    assert!(link.as_str().unwrap().contains(file["id"].as_str().unwrap()), "{said}");
    let answer = world.content(&link, &[]).await;
    answer.refused(403, "link_invalid", "O link é inválido ou expirou");

    // Whoever may delete it does; its link leads nowhere then.
    world.admin.delete(&path).await.ok(204);
    let expired = world.admin.get(&path).await.ok(200);
    assert_eq!((&expired["status"], &expired["link"]), (&json!("expired"), &json!(null)));
    let answer = world.content(&file["link"], &[]).await;
    answer.refused(404, "not_found", "Arquivo não encontrado");
    let records = records(&world.admin, "entityType=MEDIA&status=success", 2).await;
    assert_eq!(actions(&records), ["CREATE", "DELETE"]);
    assert!(records.iter().all(|record| record["entityId"] == file["id"]), "{records:?}");
}

async fn files_go_with_their_messages(setup: Setup) {
    let world = World::new(setup, false).await;
    world.sends("audio/ogg", SentFile::default(), VOICE);
    let media = world.received("stored").await["media"].clone();
    let path = format!("/media/{}", media["id"].as_str().unwrap());
    let contacts = world.admin.get(&format!("/contacts?q={PHONE}")).await.ok(200);
    let contact = format!("/contacts/{}?force=true", contacts["items"][0]["id"].as_str().unwrap());
    world.admin.delete(&contact).await.ok(204);
    assert_eq!(world.content(&media["link"], &[]).await.status, 404);
    // The upkeep is periodic work.
    world.server.advance(Duration::from_secs(60)).await;
    assert_eq!(world.admin.get(&path).await.status, 404);
    assert_eq!(world.admin.get("/media").await.ok(200)["items"], json!([]));
}

async fn files_of_contacts_have_a_time(setup: Setup) {
    let world = World::new(setup.with("MEDIA_RETENTION_DAYS", "30"), false).await;
    world.sends("audio/ogg", SentFile::default(), VOICE);
    let media = world.received("stored").await["media"].clone();
    let upload = world.upload("", &[], PDF).await.ok(201);
    let of = |media: &Value| format!("/media/{}", media["id"].as_str().unwrap());
    for (days, status) in [(29, "stored"), (2, "expired")] {
        world.server.advance(Duration::from_secs(days * 24 * 3_600)).await;
        // Tokens end sooner.
        let admin = Api::admin(&world.setup, &world.server).await;
        assert_eq!(admin.get(&of(&media)).await.ok(200)["status"], status);
        assert_eq!(admin.get(&of(&upload)).await.ok(200)["status"], "stored");
    }
}
