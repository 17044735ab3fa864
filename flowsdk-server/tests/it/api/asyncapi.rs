//! The document of the sockets, held against what goes over them.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::building::{id, shop, visitor};
use super::desk::desk_of;
use super::tickets::Tickets;
use crate::harness::client::Manner;
use crate::harness::{Api, Client, Server, Setup, everywhere, http};

everywhere!(what_goes_over_the_sockets_fits_the_document);

/// Messages of the document that do not occur here: no contact by phone, no AI agent, and what the tests' client keeps no
/// payload of.
const UNSEEN: [&str; 5] = [
    "desk/serverConnected",
    "desk/serverTicketSentiment",
    "desk/serverTicketWindowExpired",
    "webchat/clientMessageAck",
    "webchat/serverConnected",
];

/// The document, and the messages of it that were seen.
struct Document {
    document: Value,
    seen: Mutex<BTreeSet<String>>,
}

impl Document {
    async fn of(server: &Server) -> Self {
        let document = http::get(server.addr, "/asyncapi.json", &[]).await.json();
        Self { document, seen: Mutex::default() }
    }

    fn messages(&self, socket: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.document["channels"][socket]["messages"].as_object().unwrap().iter()
    }

    /// Checks the payload of a packet of the `client` or `server`, or of an `answer`: it fits its schema, and has no field
    /// that the schema does not know.
    fn check(&self, (socket, side, packet): (&str, &str, &str), name: &str, payload: &Value) {
        let is_it = |(key, message): &(&String, &Value)| {
            key.starts_with(side) && message["x-socketio-packet"] == packet && message["name"] == name
        };
        let (key, _) =
            self.messages(socket).find(is_it).unwrap_or_else(|| panic!("{socket} knows no {name}"));
        let mut whole = self.document.clone();
        whole["$ref"] = format!("#/channels/{socket}/messages/{key}/payload").into();
        whole["unevaluatedProperties"] = false.into();
        let schema = jsonschema::options().build(&whole).unwrap();
        let problems: Vec<String> = schema.iter_errors(payload).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0], "{socket} {key}: {payload:#}");
        self.seen.lock().unwrap().insert(format!("{socket}/{key}"));
    }

    fn sends(&self, socket: &str, client: &Client, event: &str, payload: &Value) {
        self.check((socket, "client", "EVENT"), event, payload);
        client.send(event, payload);
    }

    async fn emit(&self, socket: &str, client: &Client, event: &str, payload: &Value) -> Value {
        self.check((socket, "client", "EVENT"), event, payload);
        let answer = client.emit(event, payload).await;
        let name = if answer["ok"] == true { event } else { "refused" };
        self.check((socket, "answer", "ACK"), name, &answer);
        answer
    }

    /// Checks everything that a client was sent.
    fn received(&self, socket: &str, client: &Client) {
        for (name, payload) in client.received() {
            self.check((socket, "server", "EVENT"), &name, &payload);
        }
    }

    fn unseen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let all = ["desk", "webchat"]
            .into_iter()
            .flat_map(|socket| self.messages(socket).map(move |(key, _)| format!("{socket}/{key}")));
        all.filter(|key| !seen.contains(key)).collect()
    }
}

async fn what_goes_over_the_sockets_fits_the_document(setup: Setup) {
    let server = setup.start().await;
    let document = Document::of(&server).await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    attend(&setup, &server, &admin, &tickets, &document).await;
    offer(&setup, &server, &admin, &tickets, &document).await;
    watch(&server, &admin, &tickets, &document).await;
    refuse(&server, &document).await;
    begin(&server, &admin, &tickets, &document).await;
    prepare(&server, &admin, &document).await;
    assert_eq!(document.unseen(), UNSEEN);
}

/// An agent and a visitor talk about two tickets.
async fn attend(setup: &Setup, server: &Server, admin: &Api, tickets: &Tickets, document: &Document) {
    let queue = tickets
        .queue(&json!({ "distributionStrategy": "manual_pickup",
            "serviceLevel": { "resolutionMinutes": 1, "warnAtPercent": 1 } }))
        .await;
    let (bia, user) = tickets.agent(setup, &[&queue]).await;
    let auth = json!({ "token": bia.token, "since": 7 });
    document.check(("desk", "client", "CONNECT"), "connect", &auth);
    // A number that nobody gave.
    let desk = desk_of(server, &bia, Some(7)).await;
    desk.event("helpdesk:sync-required").await;
    let emit = async |event: &str, payload: Value| document.emit("desk", &desk, event, &payload).await;
    assert_eq!(emit("agent:status", json!({ "status": "online" })).await["ok"], true);
    assert_eq!(emit("agent:heartbeat", json!({})).await["ok"], true);
    assert_eq!(emit("agent:pickup", json!({})).await["code"], "nothing_waiting");
    let (mut visitor, ticket) = tickets.hand_over(server).await;
    assert_eq!(emit("agent:pickup", json!({})).await["ticket"]["id"], ticket["id"]);
    server.advance(Duration::from_secs(6)).await;
    desk.event("ticket:service-level").await;
    let look = json!({ "ticketId": ticket["id"] });
    assert_eq!(emit("ticket:viewing", look.clone()).await["ok"], true);
    let other = desk_of(server, admin, None).await;
    assert_eq!(document.emit("desk", &other, "ticket:typing", &look).await["ok"], true);
    desk.event("ticket:viewing").await;
    let agents = admin.get(&format!("/agents?routerId={}", tickets.router)).await.ok(200);
    let agent = format!("/agents/{}/presence", id(&agents["items"][0]));
    admin.put(&agent, &json!({ "status": "busy" })).await.ok(200);
    desk.event("agent:status").await;
    let says = json!({ "ticketId": ticket["id"], "text": "Olá", "commandId": "c-1" });
    let first = emit("agent:reply", says.clone()).await;
    assert_eq!(emit("agent:reply", says).await, first);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let file = admin.send("POST", &format!("/media?routerId={}", tickets.router), &[], Some(png)).await;
    let image = json!({ "type": "image", "image": { "id": id(&file.ok(201)), "caption": "A" } });
    let reply = json!({ "ticketId": ticket["id"], "content": image });
    assert_eq!(emit("agent:reply", reply).await["ok"], true);
    let shown = visitor.next_messages(2).await.remove(1);
    assert!(shown["image"]["id"].is_string() && shown["image"]["link"].is_string(), "{shown}");
    desk.event("ticket:message-status").await;
    visitor.say("a segunda via").await;
    desk.event("ticket:message").await;
    let note = json!({ "text": "Pagou duas vezes.", "mentionedUserIds": [user] });
    admin.post(&format!("/tickets/{}/notes", id(&ticket)), &note).await.ok(200);
    desk.event("ticket:note").await;
    let moved = emit("agent:transfer", json!({ "ticketId": ticket["id"], "toUserId": user })).await;
    desk.event("ticket:transferred").await;
    let close = json!({ "ticketId": moved["ticket"]["id"], "reason": "resolvido", "tagIds": [] });
    assert_eq!(emit("agent:close", close).await["ticket"]["status"], "closed");
    desk.event("ticket:closed").await;
    assert_eq!(emit("helpdesk:refresh", json!({})).await["ok"], true);
    assert_eq!(visitor.texts(1).await, ["Fim: resolvido"]);
    visitor.session().await;
    document.received("webchat", &visitor);
    document.received("desk", &desk);
}

/// An agent is offered tickets.
async fn offer(setup: &Setup, server: &Server, admin: &Api, tickets: &Tickets, document: &Document) {
    let queue = tickets.queue(&json!({ "name": "Oferta", "acceptWithinSeconds": 600 })).await;
    let (caio, _) = tickets.agent(setup, &[&queue]).await;
    let desk = desk_of(server, &caio, None).await;
    let emit = async |event: &str, payload: Value| document.emit("desk", &desk, event, &payload).await;
    assert_eq!(emit("agent:status", json!({ "status": "online" })).await["ok"], true);
    let (_visitor, ticket) = tickets.hand_over(server).await;
    let mut ticket = id(&ticket);
    for answer in ["agent:decline", "agent:accept"] {
        let to_queue = json!({ "toQueueId": queue });
        ticket = id(&admin.post(&format!("/tickets/{ticket}/transfer"), &to_queue).await.ok(200));
        assert_eq!(desk.event("ticket:offered").await["ticket"]["id"], json!(ticket));
        assert_eq!(emit(answer, json!({ "ticketId": ticket })).await["ok"], true);
    }
    desk.event("ticket:offer-ended").await;
    document.received("desk", &desk);
}

/// An administrator watches the figures.
async fn watch(server: &Server, admin: &Api, tickets: &Tickets, document: &Document) {
    let desk = desk_of(server, admin, None).await;
    let (_visitor, _) = tickets.hand_over(server).await;
    let join = json!({ "routerId": tickets.router });
    assert_eq!(document.emit("desk", &desk, "monitoring:join", &join).await["ok"], true);
    desk.event("monitoring:snapshot").await;
    assert_eq!(document.emit("desk", &desk, "monitoring:leave", &json!({})).await["ok"], true);
    let unknown = json!({ "ticketId": "cnothing", "toQueueId": "cnothing" });
    assert_eq!(document.emit("desk", &desk, "agent:transfer", &unknown).await["code"], "not_found");
    document.received("desk", &desk);
}

/// Nobody gets in who may not.
async fn refuse(server: &Server, document: &Document) {
    let manner = Manner { socket: Some("desk"), ..Manner::default() };
    let refused = Client::open_as(server.addr, json!({}), manner).await;
    let error = refused.event("connect_error").await;
    document.check(("desk", "server", "CONNECT_ERROR"), "connect_error", &error);
    let stranger = Client::open_as(server.addr, json!({ "channelId": "cnothing" }), Manner::default()).await;
    assert_eq!(stranger.answer().await.0, "auth_error");
    document.received("webchat", &stranger);
}

/// A visitor enters a chat that begins without a message.
async fn begin(server: &Server, admin: &Api, tickets: &Tickets, document: &Document) {
    let channel = json!({ "routerId": tickets.router, "name": "Aberta", "startOn": "open",
        "appearance": { "primaryColor": "#0a7d4f" }, "attachments": { "kinds": ["image"], "maxBytes": 2_000 } });
    let channel = id(&admin.post("/webchat/channels", &channel).await.ok(201));
    let auth = json!({ "channelId": channel, "since": "start" });
    document.check(("webchat", "client", "CONNECT"), "connect", &auth);
    let (mut visitor, ok) = Client::enter(server.addr, auth).await;
    let again = json!({ "channelId": channel, "userId": ok["userId"], "sessionKey": ok["sessionKey"] });
    document.check(("webchat", "client", "CONNECT"), "connect", &again);
    let asked = visitor.next_messages(1).await.remove(0);
    let emit = async |event: &str, payload: Value| document.emit("webchat", &visitor, event, &payload).await;
    assert_eq!(emit("start", json!({})).await, json!({ "ok": true }));
    assert_eq!(emit("message", json!({ "text": "oi", "clientMessageId": "m-1" })).await["ok"], true);
    let tap = json!({ "type": "button_reply", "id": "plans", "title": "Planos" });
    assert_eq!(emit("message_interactive", tap).await["ok"], true);
    assert_eq!(emit("message_media", json!({ "mediaId": "cnothing" })).await["code"], "media_unknown");
    let key = ["userId", "sessionKey"].map(|name| ok[name].as_str().unwrap());
    let headers = [("x-channel-id", &*channel), ("x-user-id", key[0]), ("x-session-key", key[1])];
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let file = http::send(server.addr, "POST", "/webchat/media", &headers, Some(png)).await.unwrap().ok(201);
    let file = json!({ "mediaId": file["id"], "caption": "A" });
    assert_eq!(emit("message_media", file).await["ok"], true);
    document.sends("webchat", &visitor, "typing", &json!({}));
    document.sends("webchat", &visitor, "read", &json!({ "messageId": asked["id"] }));
    document.received("webchat", &visitor);
}

/// A flow prepares an answer, with buttons.
async fn prepare(server: &Server, admin: &Api, document: &Document) {
    let buttons = json!({ "type": "button", "header": { "type": "text", "text": "T" }, "body": { "text": "?" },
        "action": { "buttons": [{ "type": "reply", "reply": { "id": "a", "title": "A" } }] } });
    let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "onEnter": [{ "type": "delay", "millis": 50 }], "input": { "variable": "x" },
            "contents": [{ "type": "interactive", "interactive": buttons }], "defaultOutput": { "end": true } }] });
    let (_, _, channel) = shop(admin, "Devagar", &definition).await;
    let mut visitor = visitor(server, &channel).await;
    visitor.say("oi").await;
    visitor.typing().await;
    assert_eq!(visitor.next_messages(1).await[0]["interactive"]["type"], "button");
    visitor.say("fim").await;
    assert_eq!(visitor.session().await, json!({ "mode": null }));
    document.received("webchat", &visitor);
}
