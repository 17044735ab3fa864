//! The webhook of the phone channel, as its provider calls it (rulings C2, C3, S4).

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::message::HasMessages as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::building::{id, published, says};
use crate::harness::http::{self, Answer};
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(a_conversation_by_phone, who_is_refused);
everywhere!(in process: several_accounts_in_one_delivery, a_router_without_a_flow_stores_only);

const SECRET: &str = "app-secret-of-the-shop";

/// A business with a number, and a flow that answers.
struct Shop {
    router: String,
    number: String,
    account: String,
    secret: SecretString,
}

impl Shop {
    async fn new(admin: &Api, name: &str, number: &str, secret: &str) -> Self {
        let settings = json!({ "name": name, "channelAppSecret": secret, "channelVerifyToken": format!("verify-{name}") });
        let router = id(&admin.post("/routers", &settings).await.ok(201));
        let account = format!("9{number}");
        let new = json!({ "routerId": router, "name": name, "phoneNumberId": number, "phoneNumber": "5511987654321",
            "businessAccountId": account });
        admin.post("/channel-numbers", &new).await.ok(201);
        Self { router, number: number.to_owned(), account, secret: secret.to_owned().into() }
    }

    async fn answering(self, admin: &Api) -> Self {
        let flow = published(admin, &self.router, "Início", &says("eco {{input}}")).await;
        admin.patch(&format!("/routers/{}", self.router), &json!({ "initialFlowId": flow })).await.ok(200);
        self
    }

    fn entry(&self, value: Value) -> Value {
        let mut value = value;
        value["messaging_product"] = json!("whatsapp");
        value["metadata"] =
            json!({ "display_phone_number": "5511987654321", "phone_number_id": self.number });
        json!({ "id": self.account, "changes": [{ "field": "messages", "value": value }] })
    }

    fn text(&self, from: &str, wamid: &str, body: &str) -> Value {
        self.entry(json!({
            "contacts": [{ "profile": { "name": "Ana" }, "wa_id": from }],
            "messages": [{ "from": from, "id": wamid, "timestamp": "1795700000", "type": "text", "text": { "body": body } }]
        }))
    }
}

fn delivery(entries: &[Value]) -> String {
    json!({ "object": "whatsapp_business_account", "entry": entries }).to_string()
}

async fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    http::send(server.addr, "POST", path, headers, Some(body.as_bytes())).await.expect("an answer")
}

async fn deliver(server: &Server, shop: &Shop, body: &str) -> Answer {
    let signature = sign(&shop.secret, body.as_bytes());
    post(server, "/phone/webhook", &[(SIGNATURE_HEADER, &signature)], body).await
}

/// The texts of a contact's chat, oldest first, once there are `count`.
async fn transcript(admin: &Api, phone: &str, count: usize) -> Vec<Value> {
    eventually("the messages are there", || async {
        let contacts = admin.get(&format!("/contacts?q={phone}")).await.ok(200);
        let contact = contacts["items"].as_array()?.first()?["id"].as_str()?.to_owned();
        let chats = admin.get(&format!("/chats?contactId={contact}")).await.ok(200);
        let chat = chats["items"].as_array()?.first()?["id"].as_str()?.to_owned();
        let messages = admin.get(&format!("/chats/{chat}/messages")).await.ok(200);
        let mut items = messages["items"].as_array()?.clone();
        items.reverse();
        (items.len() >= count).then_some(items)
    })
    .await
}

fn bodies(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["content"]["text"]["body"].as_str().unwrap_or("?")).collect()
}

async fn a_conversation_by_phone(setup: Setup) {
    setup.plant(SECRET);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;

    // The provider checks the address first.
    let verify = |path: &str, token: &str| {
        format!("{path}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token={token}")
    };
    let of_router = format!("/phone/webhook/{}", shop.router);
    for path in ["/phone/webhook", &of_router] {
        let answer = http::get(server.addr, &verify(path, "verify-Loja"), &[]).await;
        assert_eq!((answer.status, &*answer.body), (200, "1158201444"));
        for wrong in ["verify-loja", "", "verify-Loja2"] {
            assert_eq!(http::get(server.addr, &verify(path, wrong), &[]).await.status, 403, "{wrong}");
        }
    }

    // Non-ASCII text as the provider writes it, delivered twice.
    let body = delivery(&[shop.text("5511912345678", "wamid.1", "ol\u{e1}")]).replace('\u{e1}', "\\u00e1");
    for _ in 0..2 {
        assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    }
    let said = transcript(&admin, "5511912345678", 2).await;
    assert_eq!(bodies(&said), ["olá", "eco olá"]);
    let contact = &admin.get("/contacts?q=5511912345678").await.ok(200)["items"][0];
    assert_eq!((&contact["name"], &contact["phoneNumber"]), (&json!("Ana"), &json!("5511912345678")));
    assert_eq!(said[0]["sessionId"], "wa-111-5511912345678");

    // Several messages of one delivery are answered in their order, and a reply keeps what it replies to.
    let mut reply = shop.text("5511912345678", "wamid.2", "um");
    let mut second = reply["changes"][0]["value"]["messages"][0].clone();
    second["id"] = json!("wamid.3");
    second["text"]["body"] = json!("dois");
    second["context"] = json!({ "id": "wamid.0", "from": "5511987654321" });
    reply["changes"][0]["value"]["messages"].as_array_mut().unwrap().push(second);
    assert_eq!(deliver(&server, &shop, &delivery(&[reply])).await.status, 200);
    let said = transcript(&admin, "5511912345678", 6).await;
    let incoming: Vec<_> = said.iter().filter(|message| message["direction"] == "in").cloned().collect();
    assert_eq!(bodies(&incoming), ["olá", "um", "dois"]);
    assert_eq!(incoming[2]["content"]["context"]["id"], "wamid.0");

    // A status by the provider's id.
    let answer = said.iter().find(|message| message["direction"] == "out").unwrap()["id"].as_str().unwrap();
    let store = setup.store().await;
    let mut tx = store.begin().await.unwrap();
    tx.messages().note_provider_ids(&[(answer.parse().unwrap(), "wamid.out".to_owned())]).await.unwrap();
    tx.commit().await.unwrap();
    setup.done(store).await;
    let status = |status: &str| {
        shop.entry(json!({ "statuses": [{ "id": "wamid.out", "status": status, "timestamp": "1795700001",
            "recipient_id": "5511912345678" }] }))
    };
    for told in ["read", "delivered", "deleted"] {
        assert_eq!(deliver(&server, &shop, &delivery(&[status(told)])).await.status, 200);
    }
    eventually("the answer is read", || async {
        let message = admin.get(&format!("/messages/{answer}")).await.ok(200);
        (message["status"] == "read" && message["whatsappMessageId"] == "wamid.out").then_some(())
    })
    .await;
    assert!(server.stop().await.0.success());
}

async fn who_is_refused(setup: Setup) {
    setup.plant(SECRET);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "222", "another-secret").await;
    let body = delivery(&[shop.text("5511912345678", "wamid.1", "oi")]);
    let signature = sign(&shop.secret, body.as_bytes());
    let upper = signature.replacen("sha256=", "", 1).to_uppercase();
    let path = "/phone/webhook";
    for (headers, body, status, code) in [
        (vec![], &*body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*sign(&other.secret, body.as_bytes()))], &body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*format!("sha256={upper}"))], &body, 403, "signature_invalid"),
        (vec![(SIGNATURE_HEADER, &*signature)], &format!("{body} "), 403, "signature_invalid"),
        (
            vec![(SIGNATURE_HEADER, &*signature), ("content-encoding", "gzip")],
            &body,
            415,
            "unsupported_media_type",
        ),
        (vec![], "{", 400, "delivery_malformed"),
        (vec![], &"x".repeat((3 << 20) + 1), 413, "payload_too_large"),
    ] {
        let answer = post(&server, path, &headers, body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{headers:?}");
    }
    // Of a router there are its own numbers only.
    let signed = [(SIGNATURE_HEADER, &*signature)];
    let at = format!("{path}/{}", other.router);
    assert_eq!(post(&server, &at, &signed, &body).await.status, 403);
    assert_eq!(post(&server, &format!("{path}/nobody"), &signed, &body).await.status, 403);
    let unknown = delivery(&[json!({ "id": "404", "changes": [{ "field": "messages", "value": {} }] })]);
    assert_eq!(deliver(&server, &shop, &unknown).await.status, 403);
    assert_eq!(admin.get("/contacts?q=5511912345678").await.ok(200)["items"], json!([]));
    assert_eq!(post(&server, &format!("{path}/{}", shop.router), &signed, &body).await.status, 200);
    assert_eq!(bodies(&transcript(&admin, "5511912345678", 2).await), ["oi", "eco oi"]);
    assert!(server.stop().await.0.success());
}

async fn several_accounts_in_one_delivery(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await.answering(&admin).await;
    let same = Shop::new(&admin, "Filial", "222", SECRET).await.answering(&admin).await;
    let other = Shop::new(&admin, "Outra", "333", "another-secret").await.answering(&admin).await;
    // Of another app nothing is taken, whoever signs.
    let body = delivery(&[
        shop.text("5511900000001", "wamid.1", "um"),
        other.text("5511900000003", "wamid.3", "três"),
        same.text("5511900000002", "wamid.2", "dois"),
    ]);
    assert_eq!(deliver(&server, &shop, &body).await.status, 200);
    assert_eq!(bodies(&transcript(&admin, "5511900000001", 2).await), ["um", "eco um"]);
    assert_eq!(bodies(&transcript(&admin, "5511900000002", 2).await), ["dois", "eco dois"]);
    assert_eq!(admin.get("/contacts?q=5511900000003").await.ok(200)["items"], json!([]));
}

async fn a_router_without_a_flow_stores_only(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = Shop::new(&admin, "Loja", "111", SECRET).await;
    let mut order = shop.text("5511912345678", "wamid.1", "");
    order["changes"][0]["value"]["messages"][0] = json!({ "from": "5511912345678", "id": "wamid.1",
        "timestamp": "1795700000", "type": "order", "order": { "catalog_id": "7" } });
    assert_eq!(deliver(&server, &shop, &delivery(&[order])).await.status, 200);
    let said = transcript(&admin, "5511912345678", 1).await;
    assert_eq!(
        (&said[0]["type"], &said[0]["content"]["order"]["catalog_id"]),
        (&json!("order"), &json!("7"))
    );
}
