//! The phone channel: what the provider delivers, and what is sent.

mod attended;
mod dispatch;
mod dispatch_to_queue;
mod doctor;
mod forms;
mod limits;
mod media;
mod sending;
mod senses;
mod settings;
mod storm;
mod templates;
mod webhook;

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_core::context::OpContext;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::building::{id, published, says};
use crate::harness::http::{self, Answer};
use crate::harness::{Api, Server, eventually};

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

    /// A contact has another number.
    fn changed(&self, from: &str, to: &str) -> Value {
        self.entry(json!({ "messages": [{ "from": from, "id": format!("wamid.{from}"), "timestamp": now(),
            "type": "system", "system": { "type": "user_changed_number", "body": "changed", "new_wa_id": to } }] }))
    }

    fn text(&self, from: &str, wamid: &str, body: &str) -> Value {
        self.entry(json!({
            "contacts": [{ "profile": { "name": "Ana" }, "wa_id": from }],
            "messages": [{ "from": from, "id": wamid, "timestamp": now(), "type": "text", "text": { "body": body } }]
        }))
    }
}

/// The present second, as the provider writes it. The window of a chat counts from there.
fn now() -> String {
    (OpContext::system().now().as_millis() / 1_000).to_string()
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
