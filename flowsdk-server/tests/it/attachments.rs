//! Files that visitors of the web chat send.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::building::{id, published, router};
use crate::harness::http::{self, Answer};
use crate::harness::{Api, Client, Server, Setup, everywhere};

everywhere!(a_visitor_sends_a_file_and_is_answered);
everywhere!(
    in process:
    what_a_channel_does_not_take_is_refused,
    a_file_is_of_the_visitor_who_uploaded_it,
    a_file_that_is_sent_again_is_one_message,
    a_file_that_is_never_sent_goes,
    visitors_do_not_fill_the_disk,
    a_disk_that_is_nearly_full_takes_messages,
    the_switch_is_a_setting_of_the_channel,
);

/// A text, so that answers can be compared as texts.
const PDF: &[u8] = b"%PDF-1.7 a receipt";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";

/// A channel whose flow says what it got.
struct Shop {
    server: Server,
    admin: Api,
    router: String,
    channel: String,
}

impl Shop {
    async fn new(setup: &Setup) -> Self {
        let server = setup.start().await;
        let admin = Api::admin(setup, &server).await;
        let router = router(&admin, "Loja").await;
        let says = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "input": { "variable": "file" }, "defaultOutput": { "blockId": "b" },
                "contents": [{ "type": "text", "text": { "body": "?" } }] },
            { "id": "b", "type": "content", "input": {}, "defaultOutput": { "blockId": "b" }, "contents": [{ "type": "text",
                "text": { "body": "{{input.type}} {{input.media.mimeType}} {{input.media.caption}}" } }] }] });
        let flow = published(&admin, &router, "Início", &says).await;
        admin.patch(&format!("/routers/{router}"), &json!({ "initialFlowId": flow })).await.ok(200);
        let channel = json!({ "routerId": router, "name": "Web",
            "attachments": { "kinds": ["image", "document"], "maxBytes": 2_000 } });
        let channel = id(&admin.post("/webchat/channels", &channel).await.ok(201));
        Self { server, admin, router, channel }
    }

    async fn visitor(&self) -> Visitor {
        let (client, ok) = Client::enter(self.server.addr, json!({ "channelId": self.channel })).await;
        let text = |name: &str| ok[name].as_str().unwrap().to_owned();
        Visitor {
            client,
            user: text("userId"),
            key: text("sessionKey"),
            attachments: ok["attachments"].clone(),
        }
    }

    async fn upload(&self, visitor: &Visitor, query: &str, content: &[u8]) -> Answer {
        let headers = visitor.headers(&self.channel);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let path = format!("/webchat/media{query}");
        http::send(self.server.addr, "POST", &path, &headers, Some(content)).await.expect("an answer")
    }
}

struct Visitor {
    client: Client,
    user: String,
    key: String,
    attachments: Value,
}

impl Visitor {
    fn headers(&self, channel: &str) -> [(&'static str, String); 3] {
        [
            ("x-channel-id", channel.to_owned()),
            ("x-user-id", self.user.clone()),
            ("x-session-key", self.key.clone()),
        ]
    }

    async fn sends(&self, payload: Value) -> Value {
        self.client.emit("message_media", &payload).await
    }
}

async fn a_visitor_sends_a_file_and_is_answered(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let mut visitor = shop.visitor().await;
    setup.plant(&visitor.key);
    assert_eq!(visitor.attachments, json!({ "kinds": ["image", "document"], "maxBytes": 2_000 }));
    visitor.client.say("oi").await;
    assert_eq!(visitor.client.texts(1).await, ["?"]);
    let file = shop.upload(&visitor, "?filename=recibo.pdf", PDF).await.ok(201);
    assert_eq!(
        [&file["kind"], &file["mimeType"], &file["filename"], &file["size"]],
        [&json!("document"), &json!("application/pdf"), &json!("recibo.pdf"), &json!(PDF.len())]
    );
    let ack =
        visitor.sends(json!({ "mediaId": file["id"], "caption": "pago", "clientMessageId": "m1" })).await;
    assert_eq!(ack["ok"], true, "{ack}");
    assert_eq!(visitor.client.texts(1).await, ["document application/pdf pago"]);

    // The visitor finds it in the history, and the desk in the chat.
    let headers = visitor.headers(&shop.channel);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
    let history = http::get(shop.server.addr, "/webchat/history", &headers).await.json();
    let mine = history["items"].as_array().unwrap().iter().find(|item| item["type"] == "document").unwrap();
    let link = mine["document"]["link"].as_str().expect("a link");
    let content = http::get(shop.server.addr, link, &[]).await;
    assert_eq!((content.status, content.body.as_bytes()), (200, PDF));
    let chats = shop.admin.get(&format!("/chats?routerId={}", shop.router)).await.ok(200);
    let path = format!("/chats/{}/messages", chats["items"][0]["id"].as_str().unwrap());
    let messages = shop.admin.get(&path).await.ok(200);
    let message =
        messages["items"].as_array().unwrap().iter().find(|item| item["type"] == "document").unwrap();
    let media = &message["media"];
    assert_eq!(
        (&media["id"], &media["origin"], &media["messageId"]),
        (&file["id"], &json!("visitor"), &message["id"])
    );
    let content = http::get(shop.server.addr, media["link"].as_str().unwrap(), &[]).await;
    assert_eq!(content.body.as_bytes(), PDF);
}

async fn what_a_channel_does_not_take_is_refused(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let visitor = shop.visitor().await;
    for (query, content, status, code) in [
        ("?filename=a.ogg", &b"OggS\0\x02\0\0\0\0\0\0"[..], 422, "media_kind_refused"),
        ("?filename=a.png", b"<html><script>", 422, "media_type_refused"),
        ("?filename=a.png", PDF, 422, "media_type_mismatch"),
        ("", b"", 422, "media_empty"),
        ("", &[7; 2_001], 413, "payload_too_large"),
        ("?filename=a&filename=b", PDF, 400, "validation_failed"),
    ] {
        let answer = shop.upload(&visitor, query, content).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{query}: {answer:?}");
    }
    let image = shop.upload(&visitor, "?filename=..%2F..%2Fa.png", PNG).await.ok(201);
    assert_eq!((&image["kind"], &image["filename"]), (&json!("image"), &json!("a.png")));
    let stranger = Visitor { key: "wrong".to_owned(), ..shop.visitor().await };
    let answer = shop.upload(&stranger, "", PDF).await;
    assert_eq!((answer.status, &answer.json()["code"]), (401, &json!("identity_invalid")));
    for (payload, code) in [
        (json!({}), "payload_invalid"),
        (json!({ "mediaId": "unknown" }), "media_unknown"),
        (json!({ "mediaId": image["id"], "caption": "x".repeat(1_025) }), "caption_too_long"),
        (json!({ "mediaId": image["id"], "clientMessageId": "a b" }), "client_message_id_invalid"),
    ] {
        assert_eq!(visitor.sends(payload.clone()).await["code"], code, "{payload}");
    }
}

async fn a_file_is_of_the_visitor_who_uploaded_it(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let (ana, bia) = (shop.visitor().await, shop.visitor().await);
    let file = shop.upload(&ana, "", PDF).await.ok(201);
    assert_eq!(bia.sends(json!({ "mediaId": file["id"] })).await["code"], "media_unknown");
    let upload = format!("/media?routerId={}", shop.router);
    let upload = shop.admin.send("POST", &upload, &[], Some(PDF)).await.ok(201);
    assert_eq!(ana.sends(json!({ "mediaId": upload["id"] })).await["code"], "media_unknown");
    assert_eq!(ana.sends(json!({ "mediaId": file["id"] })).await["ok"], true);
}

async fn a_file_that_is_sent_again_is_one_message(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let mut visitor = shop.visitor().await;
    visitor.client.say("oi").await;
    visitor.client.texts(1).await;
    let file = shop.upload(&visitor, "", PDF).await.ok(201);
    let payload = json!({ "mediaId": file["id"], "clientMessageId": "m1" });
    let first = visitor.sends(payload.clone()).await;
    let again = visitor.sends(payload).await;
    assert_eq!((&first["ok"], &first["messageId"]), (&json!(true), &again["messageId"]));
    visitor.client.say("fim").await;
    assert_eq!(visitor.client.texts(2).await, ["document application/pdf ", "text  "], "each once");
}

async fn a_file_that_is_never_sent_goes(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let visitor = shop.visitor().await;
    visitor.client.say("oi").await;
    let kept = shop.upload(&visitor, "", PDF).await.ok(201);
    assert_eq!(visitor.sends(json!({ "mediaId": kept["id"] })).await["ok"], true);
    let file = shop.upload(&visitor, "", PDF).await.ok(201);
    shop.server.advance(Duration::from_secs(25 * 3_600)).await;
    let admin = Api::admin(&setup, &shop.server).await;
    assert_eq!(admin.get(&format!("/media/{}", file["id"].as_str().unwrap())).await.status, 404);
    assert_eq!(
        admin.get(&format!("/media/{}", kept["id"].as_str().unwrap())).await.ok(200)["status"],
        "stored"
    );
}

async fn visitors_do_not_fill_the_disk(setup: Setup) {
    let setup = setup.with("WEBCHAT_UPLOAD_MIB_PER_HOUR", "1");
    let shop = Shop::new(&setup).await;
    let visitor = shop.visitor().await;
    let path = format!("/webchat/channels/{}", shop.channel);
    let larger = json!({ "attachments": { "kinds": ["document"], "maxBytes": 2 << 20 } });
    shop.admin.patch(&path, &larger).await.ok(200);
    let half = vec![b'x'; 512 << 10];
    shop.upload(&visitor, "?filename=a.txt", &half).await.ok(201);
    shop.upload(&visitor, "?filename=b.txt", &half).await.ok(201);
    let answer = shop.upload(&visitor, "?filename=c.txt", &half).await;
    answer.refused(429, "rate_limited", "Muitos arquivos, aguarde um momento");
    let wait: u64 = answer.headers["retry-after"].parse().expect("seconds");
    assert!((60..=30 * 60).contains(&wait), "half of the hour's bytes: {wait}");
    visitor.client.say("oi").await;
}

async fn a_disk_that_is_nearly_full_takes_messages(setup: Setup) {
    let folder = tempfile::tempdir().expect("a folder");
    let setup =
        setup.with("MEDIA_STORE", folder.path().to_str().unwrap()).with("MEDIA_KEEP_FREE_MIB", "1073741824");
    let shop = Shop::new(&setup).await;
    let mut visitor = shop.visitor().await;
    let answer = shop.upload(&visitor, "", PDF).await;
    assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("unavailable")), "{answer:?}");
    let path = format!("/media?routerId={}", shop.router);
    assert_eq!(shop.admin.send("POST", &path, &[], Some(PDF)).await.status, 503);
    assert_eq!(shop.admin.get(&path).await.ok(200)["items"], json!([]), "nothing is left of them");
    visitor.client.say("oi").await;
    assert_eq!(visitor.client.texts(1).await, ["?"]);
}

async fn the_switch_is_a_setting_of_the_channel(setup: Setup) {
    let shop = Shop::new(&setup).await;
    let path = format!("/webchat/channels/{}", shop.channel);
    for (attachments, field) in [
        (json!({ "kinds": [] }), "attachments.kinds"),
        (json!({ "kinds": ["paper"] }), "attachments.kinds[0]"),
        (json!({ "kinds": ["image"], "maxBytes": 0 }), "attachments.maxBytes"),
        (json!({ "kinds": ["image"], "maxBytes": 1 << 30 }), "attachments.maxBytes"),
        (json!({ "kinds": ["image"], "other": 1 }), "attachments.other"),
    ] {
        let answer = shop.admin.patch(&path, &json!({ "attachments": attachments })).await;
        assert_eq!(answer.invalid_fields(), [field], "{attachments}");
    }
    let changed = shop.admin.patch(&path, &json!({ "attachments": { "kinds": ["audio"] } })).await.ok(200);
    assert_eq!(changed["attachments"], json!({ "kinds": ["audio"], "maxBytes": 16 << 20 }));
    let changed = shop.admin.patch(&path, &json!({ "attachments": null })).await.ok(200);
    assert_eq!(changed["attachments"], json!(null));
    let visitor = shop.visitor().await;
    assert_eq!(visitor.attachments, json!(null));
    let answer = shop.upload(&visitor, "", PDF).await;
    answer.refused(403, "attachments_disabled", "Este canal não aceita arquivos");
}
