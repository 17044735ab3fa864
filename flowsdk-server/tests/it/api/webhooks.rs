//! Outgoing webhooks.

use std::time::Duration;

use flowsdk_webhooks::delivery::{Secret, sign};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::building::{actions, id, records, router};
use super::tickets::Tickets;
use crate::harness::{Api, Server, Setup, eventually, everywhere};

everywhere!(a_conversation_is_told_in_order, what_waits_survives_a_kill);
everywhere!(in process:
    life,
    scope,
    what_is_refused,
    deliveries_are_shown_and_replayed,
    a_secret_is_replaced_without_a_gap,
    how_far_messages_came_is_told,
    what_happens_to_contacts_is_told,
);

/// A server of somebody else, which answers with `status`.
async fn receiver(status: u16) -> MockServer {
    let server = MockServer::start().await;
    answer(&server, status).await;
    server
}

async fn answer(receiver: &MockServer, status: u16) {
    receiver.reset().await;
    let answer = ResponseTemplate::new(status).set_body_string("visto");
    Mock::given(method("POST")).and(path("/hook")).respond_with(answer).mount(receiver).await;
}

fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.headers[name].to_str().unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn reaching(setup: Setup) -> Setup {
    setup.with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1")
}

fn webhook(router: &str, receiver: &MockServer, events: &Value) -> Value {
    json!({ "routerId": router, "name": "CRM", "url": format!("{}/hook", receiver.uri()), "eventTypes": events })
}

/// Waits until this many requests have come.
async fn came(server: &Server, receiver: &MockServer, count: usize) -> Vec<Request> {
    eventually(&format!("{count} deliveries"), || async {
        server.advance(Duration::from_millis(250)).await;
        let requests = receiver.received_requests().await.unwrap();
        (requests.len() >= count).then_some(requests)
    })
    .await
}

/// Waits until the server knows of a webhook: a visitor talks until it is told.
async fn known(server: &Server, tickets: &Tickets, receiver: &MockServer) {
    eventually("the webhook is known", || async {
        tickets.hand_over(server).await;
        (!receiver.received_requests().await.unwrap().is_empty()).then_some(())
    })
    .await;
}

async fn a_conversation_is_told_in_order(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let receiver = receiver(204).await;
    let events =
        json!(["message.received", "message.sent", "ticket.opened", "ticket.assigned", "ticket.closed"]);
    let made = admin.post("/webhooks", &webhook(&tickets.router, &receiver, &events)).await.ok(201);
    known(&server, &tickets, &receiver).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let at = |command: &str| format!("/tickets/{}/{command}", id(&ticket));
    admin.post(&at("assign"), &json!({ "userId": user })).await.ok(200);
    bia.post(&at("messages"), &json!({ "text": "Olá" })).await.ok(201);
    bia.post(&at("close"), &json!({ "reason": "resolvido" })).await.ok(200);
    let told = eventually("the end of the conversation", || async {
        let requests = receiver.received_requests().await.unwrap();
        let of_chat = |request: &Request| {
            let data = &body(request)["data"];
            [&data["ticket"]["chatId"], &data["message"]["chatId"]].contains(&&ticket["chatId"])
        };
        let told: Vec<Request> = requests.into_iter().filter(of_chat).collect();
        (told.len() >= 8).then_some(told)
    })
    .await;
    let kinds: Vec<Value> = told.iter().map(|request| body(request)["type"].clone()).collect();
    let expected = json!([
        "message.received",
        "message.sent",
        "message.received",
        "ticket.opened",
        "ticket.assigned",
        "message.sent",
        "ticket.closed",
        "message.sent",
    ]);
    assert_eq!(json!(kinds), expected);
    let closed = &body(&told[6])["data"]["ticket"];
    assert_eq!(*closed, admin.get(&format!("/tickets/{}", id(&ticket))).await.ok(200));
    let secret = Secret::parse(made["secret"].as_str().unwrap().to_owned().into()).unwrap();
    for request in &told {
        let seconds: i64 = header(request, "webhook-timestamp").parse().unwrap();
        let text = std::str::from_utf8(&request.body).unwrap();
        let expected = sign(&secret, header(request, "webhook-id"), seconds, text);
        assert_eq!(header(request, "webhook-signature"), expected);
        assert_eq!(header(request, "content-type"), "application/json");
    }
    let mut ids: Vec<&str> = told.iter().map(|request| header(request, "webhook-id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), told.len());
}

async fn what_waits_survives_a_kill(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let receiver = receiver(503).await;
    let events = json!(["ticket.opened"]);
    let made = admin.post("/webhooks", &webhook(&tickets.router, &receiver, &events)).await.ok(201);
    let tried = admin.send("POST", &format!("/webhooks/{}/test", id(&made)), &[], None).await.ok(200);
    let at = format!("/webhooks/{}/deliveries/{}", id(&made), id(&tried));
    // A kill before that would leave no trace of the attempt.
    eventually("the attempt is noted", || async {
        let found = admin.get(&at).await.ok(200);
        (found["delivery"]["attemptCount"] == 1).then_some(())
    })
    .await;
    server.kill();
    answer(&receiver, 204).await;
    let server = setup.start().await;
    let again = came(&server, &receiver, 1).await;
    assert_eq!(
        (header(&again[0], "webhook-id"), &body(&again[0])["type"]),
        (tried["eventId"].as_str().unwrap(), &json!("webhook.test"))
    );
    let admin = Api::admin(&setup, &server).await;
    let delivery = eventually("it is delivered", || async {
        let found = admin.get(&at).await.ok(200);
        (found["delivery"]["status"] == "delivered").then_some(found)
    })
    .await;
    let codes: Vec<&Value> =
        delivery["attempts"].as_array().unwrap().iter().map(|one| &one["statusCode"]).collect();
    assert_eq!((codes.first(), codes.last()), (Some(&&json!(503)), Some(&&json!(204))), "{delivery}");
}

async fn life(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let receiver = receiver(204).await;
    let events = json!(["ticket.closed", "ticket.opened", "ticket.closed"]);
    let answer = admin.post("/webhooks", &webhook(&router, &receiver, &events)).await;
    let mut made = answer.ok(201);
    let path = format!("/webhooks/{}", id(&made));
    assert_eq!(answer.headers["location"], format!("/api{path}"));
    let secret = made.as_object_mut().unwrap().remove("secret").unwrap().as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert_eq!(made["eventTypes"], json!(["ticket.opened", "ticket.closed"]));
    assert_eq!(
        (&made["isActive"], &made["pausedAt"], &made["failingSince"]),
        (&json!(true), &json!(null), &json!(null))
    );
    assert_eq!(made["previousSecretEndsAt"], Value::Null);
    assert_eq!(made.as_object().unwrap().len(), 11, "{made}");
    assert_eq!(admin.get(&path).await.ok(200), made);
    let paused = admin.patch(&path, &json!({ "isPaused": true, "name": "ERP" })).await.ok(200);
    assert_eq!((&paused["name"], paused["pausedAt"].is_string()), (&json!("ERP"), true));
    let resumed = admin.patch(&path, &json!({ "isPaused": false })).await.ok(200);
    assert_eq!(resumed["pausedAt"], Value::Null);
    assert_eq!(admin.get(&format!("/webhooks?routerId={router}")).await.ok(200)["items"], json!([resumed]));
    let rotated = admin.send("POST", &format!("{path}/rotate-secret"), &[], None).await.ok(200);
    assert_ne!(rotated["secret"], json!(secret));
    assert!(rotated["previousSecretEndsAt"].is_string(), "{rotated}");
    let at_once = format!("{path}/rotate-secret?overlapHours=0");
    let again = admin.send("POST", &at_once, &[], None).await.ok(200);
    assert_eq!(again["previousSecretEndsAt"], Value::Null);
    let shown = admin.get(&path).await.ok(200);
    assert_eq!(shown.get("secret"), None);
    admin.delete(&path).await.ok(204);
    admin.get(&path).await.refused(404, "not_found", "Webhook não encontrado");
    let log = records(&admin, &format!("entityType=WEBHOOK&routerId={router}"), 6).await;
    assert_eq!(actions(&log), ["CREATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "DELETE"]);
    let text = json!(log).to_string();
    for hidden in [secret.as_str(), rotated["secret"].as_str().unwrap(), again["secret"].as_str().unwrap()] {
        assert!(!text.contains(hidden), "{text}");
    }
}

async fn scope(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (mine, theirs) = (router(&admin, "A").await, router(&admin, "B").await);
    let receiver = receiver(204).await;
    let foreign =
        id(&admin.post("/webhooks", &webhook(&theirs, &receiver, &json!(["ticket.opened"]))).await.ok(201));
    let delivery = id(&admin.send("POST", &format!("/webhooks/{foreign}/test"), &[], None).await.ok(200));
    let all = json!([{ "resource": "routers", "actions": ["read", "write"] }]);
    let bia = admin.member(&setup, &all, &[&mine]).await;
    let path = format!("/webhooks/{foreign}");
    let range = json!({ "from": "2026-01-01T00:00:00Z", "to": "2027-01-01T00:00:00Z" });
    let at = format!("{path}/deliveries/{delivery}");
    for answer in [
        bia.get(&path).await,
        bia.patch(&path, &json!({ "isPaused": true })).await,
        bia.delete(&path).await,
        bia.send("POST", &format!("{path}/rotate-secret"), &[], None).await,
        bia.send("POST", &format!("{path}/test"), &[], None).await,
        bia.get(&format!("{path}/deliveries")).await,
        bia.get(&at).await,
        bia.send("POST", &format!("{at}/replay"), &[], None).await,
        bia.post(&format!("{path}/replay"), &range).await,
    ] {
        answer.refused(404, "not_found", "Webhook não encontrado");
    }
    assert_eq!(bia.get("/webhooks").await.ok(200)["items"], json!([]));
    let body = webhook(&theirs, &receiver, &json!(["ticket.opened"]));
    bia.post("/webhooks", &body).await.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    // A delivery of another webhook is none of this one.
    let own = id(&bia.post("/webhooks", &webhook(&mine, &receiver, &json!(["ticket.opened"]))).await.ok(201));
    let other = bia.get(&format!("/webhooks/{own}/deliveries/{delivery}")).await;
    other.refused(404, "not_found", "Entrega não encontrada");
    let read = json!([{ "resource": "routers", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&path).await.ok(200);
    eva.delete(&path).await.refused(403, "permission_denied", "Sem permissão");
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let receiver = receiver(204).await;
    let good = webhook(&router, &receiver, &json!(["ticket.opened"]));
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    for (field, wrong) in [
        ("url", json!("ftp://crm.example")),
        ("url", json!("https://user:secret@crm.example/")),
        ("url", json!(7)),
        ("eventTypes", json!([])),
        ("eventTypes", json!("ticket.opened")),
        ("name", json!(" ")),
        ("routerId", json!("!")),
        ("secret", json!("whsec_eA==")),
    ] {
        assert_eq!(
            admin.post("/webhooks", &with(field, wrong.clone())).await.invalid_fields(),
            [field],
            "{wrong}"
        );
    }
    let unknown =
        admin.post("/webhooks", &with("eventTypes", json!(["ticket.danced"]))).await.invalid_fields();
    assert_eq!(unknown, ["eventTypes[0]"]);
    let nowhere = admin.post("/webhooks", &with("routerId", json!("cnothing"))).await;
    nowhere.refused(422, "router_unknown", "Roteador não encontrado");
    let path = format!("/webhooks/{}", id(&admin.post("/webhooks", &good).await.ok(201)));
    assert_eq!(admin.patch(&path, &json!({ "eventTypes": [] })).await.invalid_fields(), ["eventTypes"]);
    assert_eq!(admin.patch(&path, &json!({ "routerId": router })).await.invalid_fields(), ["routerId"]);
    assert_eq!(admin.get(&format!("{path}/deliveries?status=lost")).await.invalid_fields(), ["status"]);
    for wrong in ["169", "-1", "1.5", "day", ""] {
        let rotation = format!("{path}/rotate-secret?overlapHours={wrong}");
        let refused = admin.send("POST", &rotation, &[], None).await;
        assert_eq!(refused.invalid_fields(), ["overlapHours"], "{wrong}");
    }
    let replay = format!("{path}/replay");
    let now = "2026-11-19T12:00:00.000Z";
    let empty = json!({ "from": now, "to": now });
    assert_eq!(admin.post(&replay, &empty).await.invalid_fields(), ["from"]);
    assert_eq!(admin.post(&replay, &json!({ "from": "ontem", "to": now })).await.invalid_fields(), ["from"]);
    assert_eq!(admin.post(&replay, &json!({ "from": now })).await.invalid_fields(), ["to"]);
}

async fn deliveries_are_shown_and_replayed(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let receiver = receiver(500).await;
    let made = admin.post("/webhooks", &webhook(&router, &receiver, &json!(["ticket.opened"]))).await.ok(201);
    let path = format!("/webhooks/{}", id(&made));
    let tried = admin.send("POST", &format!("{path}/test"), &[], None).await.ok(200);
    assert_eq!((&tried["status"], &tried["eventType"]), (&json!("pending"), &json!("webhook.test")));
    came(&server, &receiver, 1).await;
    let at = format!("{path}/deliveries/{}", id(&tried));
    let shown = eventually("the attempt is noted", || async {
        let shown = admin.get(&at).await.ok(200);
        (shown["attempts"].as_array().unwrap().len() == 1).then_some(shown)
    })
    .await;
    let attempt = &shown["attempts"][0];
    assert_eq!((&attempt["statusCode"], &attempt["answer"]), (&json!(500), &json!("visto")));
    assert_eq!(
        (&shown["delivery"]["attemptCount"], &shown["delivery"]["status"]),
        (&json!(1), &json!("pending"))
    );
    assert_eq!(shown["payload"], body(&receiver.received_requests().await.unwrap()[0]));
    assert!(admin.get(&path).await.ok(200)["failingSince"].is_string());
    // By hand it is sent before its time.
    answer(&receiver, 200).await;
    admin.send("POST", &format!("{at}/replay"), &[], None).await.ok(200);
    came(&server, &receiver, 1).await;
    let delivered = eventually("it is delivered", || async {
        let list = admin.get(&format!("{path}/deliveries?status=delivered")).await.ok(200);
        list["items"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!(delivered["id"], tried["id"]);
    assert_eq!(admin.get(&path).await.ok(200)["failingSince"], Value::Null);
    let range =
        json!({ "from": "2020-01-01T00:00:00Z", "to": "2099-01-01T00:00:00Z", "status": "delivered" });
    assert_eq!(admin.post(&format!("{path}/replay"), &range).await.ok(200), json!({ "count": 1 }));
    came(&server, &receiver, 2).await;
    // Whoever may not be reached is not, and learns nothing of the network.
    let inside = json!({ "url": "http://169.254.169.254/latest" });
    admin.patch(&path, &inside).await.ok(200);
    admin.send("POST", &format!("{path}/test"), &[], None).await.ok(200);
    let refused = eventually("it is refused", || async {
        server.advance(Duration::from_millis(250)).await;
        let list = admin.get(&format!("{path}/deliveries?status=pending")).await.ok(200);
        let pending = list["items"].as_array().unwrap().first().cloned()?;
        let shown = admin.get(&format!("{path}/deliveries/{}", id(&pending))).await.ok(200);
        shown["attempts"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!(refused["statusCode"], Value::Null);
    assert_eq!(refused["error"], "the server's address is not public");
}

async fn a_secret_is_replaced_without_a_gap(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let receiver = receiver(204).await;
    let made = admin.post("/webhooks", &webhook(&router, &receiver, &json!(["ticket.opened"]))).await.ok(201);
    let path = format!("/webhooks/{}", id(&made));
    let rotation = format!("{path}/rotate-secret?overlapHours=1");
    let rotated = admin.send("POST", &rotation, &[], None).await.ok(200);
    let secret = |of: &Value| Secret::parse(of["secret"].as_str().unwrap().to_owned().into()).unwrap();
    let signatures = async |count: usize, secrets: &[&Value]| {
        admin.send("POST", &format!("{path}/test"), &[], None).await.ok(200);
        let request = came(&server, &receiver, count).await.remove(count - 1);
        let seconds: i64 = header(&request, "webhook-timestamp").parse().unwrap();
        let text = std::str::from_utf8(&request.body).unwrap();
        let by = |of: &&Value| sign(&secret(of), header(&request, "webhook-id"), seconds, text);
        let expected: Vec<String> = secrets.iter().map(by).collect();
        assert_eq!(header(&request, "webhook-signature"), expected.join(" "));
    };
    signatures(1, &[&rotated, &made]).await;
    server.advance(Duration::from_hours(1)).await;
    signatures(2, &[&rotated]).await;
}

async fn how_far_messages_came_is_told(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let receiver = receiver(204).await;
    admin.post("/webhooks", &webhook(&tickets.router, &receiver, &json!(["message.status"]))).await.ok(201);
    server.advance(Duration::from_secs(2)).await;
    let _visitor = tickets.arrive(&server).await;
    let told = came(&server, &receiver, 1).await.remove(0);
    let (kind, message) = (&body(&told)["type"], &body(&told)["data"]["message"]);
    assert_eq!((kind, &message["status"]), (&json!("message.status"), &json!("delivered")));
    let stored = admin.get(&format!("/messages/{}", id(message))).await.ok(200);
    for field in ["id", "seq", "status", "statusUpdatedAt", "error"] {
        assert_eq!(message[field], stored[field], "{field}");
    }
}

async fn what_happens_to_contacts_is_told(setup: Setup) {
    let setup = reaching(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, other) = (router(&admin, "Loja").await, router(&admin, "Outra").await);
    let receiver = receiver(204).await;
    let events = json!(["contact.created", "contact.updated", "contact.deleted"]);
    let made = admin.post("/webhooks", &webhook(&router, &receiver, &events)).await.ok(201);
    server.advance(Duration::from_secs(2)).await;
    let new = |phone: &str, router: &str| json!({ "phoneNumber": phone, "name": "Zoë", "routerId": router });
    admin.post("/contacts", &new("5511987650001", &other)).await.ok(201);
    let zoe = admin.post("/contacts", &new("5511987650002", &router)).await.ok(201);
    let path = format!("/contacts/{}", id(&zoe));
    assert_eq!(
        body(&came(&server, &receiver, 1).await[0])["data"],
        json!({ "contact": admin.get(&path).await.ok(200) })
    );
    admin.patch(&path, &json!({ "name": "Zoé" })).await.ok(200);
    admin.post(&format!("{path}/aliases"), &json!({ "alias": "BR.1349120865" })).await.ok(201);
    let shown = admin.get(&path).await.ok(200);
    let told = came(&server, &receiver, 3).await;
    assert_eq!(body(&told[2])["data"], json!({ "contact": shown }));
    admin.delete(&path).await.ok(204);
    let told = came(&server, &receiver, 4).await;
    let kinds: Vec<Value> = told.iter().map(|request| body(request)["type"].clone()).collect();
    assert_eq!(
        json!(kinds),
        json!(["contact.created", "contact.updated", "contact.updated", "contact.deleted"])
    );
    assert_eq!(body(&told[3])["data"], json!({ "contact": { "id": zoe["id"] } }));
    let left = admin.get(&format!("/webhooks/{}/deliveries", id(&made))).await.ok(200);
    let left: Vec<&Value> =
        left["items"].as_array().unwrap().iter().map(|delivery| &delivery["eventType"]).collect();
    assert_eq!(left, [&json!("contact.deleted")], "what was told of a contact goes with them");
}
