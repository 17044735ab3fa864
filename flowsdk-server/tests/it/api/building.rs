//! What the tests of routers, flows, variables and channels share.

use serde_json::{Value, json};

use crate::harness::{Api, Client, Server, eventually};

/// A block that says `text` and waits.
pub fn says(text: &str) -> Value {
    json!({
        "schemaVersion": 1, "startBlockId": "start",
        "blocks": [{
            "id": "start", "type": "content",
            "contents": [{ "type": "text", "text": { "body": text } }],
            "input": { "variable": "said" },
            "defaultOutput": { "blockId": "start" }
        }]
    })
}

/// The id of a record.
pub fn id(record: &Value) -> String {
    record["id"].as_str().unwrap_or_else(|| panic!("no id: {record}")).to_owned()
}

/// A new router.
pub async fn router(api: &Api, name: &str) -> String {
    id(&api.post("/routers", &json!({ "name": name })).await.ok(201))
}

/// A new flow of a router, published.
pub async fn published(api: &Api, router: &str, name: &str, definition: &Value) -> String {
    let body = json!({ "routerId": router, "name": name, "definition": definition });
    let flow = id(&api.post("/flows", &body).await.ok(201));
    act(api, &format!("/flows/{flow}/publish")).await.ok(200);
    flow
}

/// A router that begins with a published flow, and an open channel of it.
pub async fn shop(api: &Api, name: &str, definition: &Value) -> (String, String, String) {
    let router = router(api, name).await;
    let flow = published(api, &router, "Início", definition).await;
    api.patch(&format!("/routers/{router}"), &json!({ "initialFlowId": flow })).await.ok(200);
    let channel = json!({ "routerId": router, "name": "Loja" });
    let channel = id(&api.post("/webchat/channels", &channel).await.ok(201));
    (router, flow, channel)
}

/// A POST without a body.
pub async fn act(api: &Api, path: &str) -> crate::harness::http::Answer {
    api.send("POST", path, &[], None).await
}

/// A new visitor of a channel.
pub async fn visitor(server: &Server, channel: &str) -> Client {
    Client::enter(server.addr, json!({ "channelId": channel })).await.0
}

/// The words to a visitor whose session froze.
pub const FAILED: &str = "Desculpe, algo deu errado do nosso lado. O que você escrever fica guardado.";
/// The words to a visitor whom no flow answers.
pub const UNANSWERED: &str = "Recebemos sua mensagem, mas ninguém pode respondê-la agora.";

/// What a visitor is answered.
pub async fn answer(client: &mut Client, text: &str) -> String {
    client.say(text).await;
    client.texts(1).await.remove(0)
}

/// Waits for this many records of the audit log that match, newest first.
pub async fn records(api: &Api, query: &str, count: usize) -> Vec<Value> {
    eventually("the records are there", || async {
        let log = api.get(&format!("/api/audit-logs?limit=200&{query}")).await.ok(200);
        let items = log["items"].as_array().unwrap().clone();
        (items.len() >= count).then_some(items)
    })
    .await
}

/// The actions of records, oldest first.
pub fn actions(records: &[Value]) -> Vec<&str> {
    records.iter().rev().map(|record| record["action"].as_str().unwrap()).collect()
}

/// What the errors' details say: field and message.
pub fn details(answer: &crate::harness::http::Answer) -> Vec<(String, String)> {
    let body = answer.json();
    let details = body["details"].as_array().unwrap_or_else(|| panic!("no details: {answer:?}")).clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    details.iter().map(|detail| (text(&detail["field"]), text(&detail["message"]))).collect()
}
