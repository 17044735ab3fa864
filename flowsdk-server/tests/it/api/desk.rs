//! The desk socket (spec B 4.8; rulings D6).

use std::time::Duration;

use serde_json::{Value, json};

use super::building::id;
use super::tickets::Tickets;
use crate::harness::client::Manner;
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere};

everywhere!(
    a_desk_is_told_what_happens,
    a_desk_that_was_away_gets_what_it_missed,
    commands_do_what_the_routes_do,
    a_desk_ends_with_its_rights,
    an_agent_hears_how_far_their_messages_came,
);
everywhere!(in process:
    who_is_let_in,
    what_is_refused,
    notes_are_for_agents,
    a_desk_that_was_away_for_two_days_loads_everything_anew,
    a_transfer_to_a_queue_is_told_to_its_agents,
    a_close_has_tags_and_a_block_where_the_flow_goes_on,
    a_desk_loads_anew_when_its_agent_works_in_other_queues,
);

/// Connects the desk of a user.
pub async fn desk_of(server: &Server, api: &Api, since: Option<i64>) -> Client {
    let mut auth = json!({ "token": api.token });
    if let Some(since) = since {
        auth["since"] = json!(since);
    }
    let manner = Manner { socket: Some("desk"), ..Manner::default() };
    let desk = Client::open_as(server.addr, auth, manner).await;
    assert!(!desk.names().contains(&"connect_error".to_owned()), "{:?}", desk.names());
    desk
}

pub async fn online(desk: &Client) {
    assert_eq!(desk.emit("agent:status", &json!({ "status": "online" })).await["ok"], true);
}

/// Waits for an event of a server in this process, whose time passes meanwhile.
pub async fn told(server: &Server, desk: &Client, event: &str) -> Value {
    eventually(event, || async {
        server.advance(Duration::from_millis(100)).await;
        desk.names().iter().any(|name| name == event).then_some(())
    })
    .await;
    desk.event(event).await
}

/// The event as numbered, without its number and time.
fn numbered(event: &Value) -> (i64, Value) {
    let mut fields = event.as_object().unwrap().clone();
    let seq = fields.remove("seq").unwrap().as_i64().unwrap();
    assert!(fields.remove("at").unwrap().as_str().unwrap().ends_with('Z'));
    (seq, Value::Object(fields))
}

async fn a_desk_is_told_what_happens(setup: Setup) {
    let server = setup.start().await;
    // A desk hears what happens in another process.
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({})).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(other.as_ref().unwrap_or(&server), &bia, None).await;
    let empty = numbered(&desk.event("helpdesk:waiting").await).1;
    assert_eq!(empty["byQueue"], json!([{ "queueId": queue, "waiting": 0, "oldestWaitMs": 0 }]));
    let (visitor, ticket) = tickets.hand_over(&server).await;
    let waiting = desk.event("helpdesk:waiting").await;
    assert_eq!((&waiting["total"], &waiting["byQueue"][0]["waiting"]), (&json!(1), &json!(1)));
    online(&desk).await;
    let (seq, assigned) = numbered(&desk.event("ticket:assigned").await);
    assert_eq!((seq, &assigned["ticket"]["id"]), (1, &ticket["id"]));
    // In the shape of the route.
    assert_eq!(assigned["ticket"], admin.get(&format!("/tickets/{}", id(&ticket))).await.ok(200));
    assert_eq!(desk.event("helpdesk:waiting").await["total"], 0);
    visitor.say("a segunda via").await;
    let (seq, message) = numbered(&desk.event("ticket:message").await);
    assert_eq!((seq, &message["ticketId"]), (2, &ticket["id"]));
    assert_eq!((&message["chatId"], message["messages"].as_array().unwrap().len()), (&ticket["chatId"], 1));
    assert_eq!(message["messages"][0]["text"]["body"], "a segunda via");
    let (_, next) = tickets.agent(&setup, &[&queue]).await;
    let path = format!("/tickets/{}/transfer", id(&ticket));
    let moved = admin.post(&path, &json!({ "toUserId": next })).await.ok(200);
    let (seq, gone) = numbered(&desk.event("ticket:transferred").await);
    assert_eq!((seq, &gone["ticket"]["id"], &gone["nextTicketId"]), (3, &ticket["id"], &moved["id"]));
    let path = format!("/tickets/{}/transfer", id(&moved));
    let back = admin.post(&path, &json!({ "toUserId": user })).await.ok(200);
    assert_eq!(numbered(&desk.event("ticket:assigned").await).0, 4);
    admin.post(&format!("/tickets/{}/close", id(&back)), &json!({})).await.ok(200);
    let (seq, closed) = numbered(&desk.event("ticket:closed").await);
    assert_eq!((seq, &closed["ticket"]["closeKind"]), (5, &json!("resolved")));
}

async fn a_desk_that_was_away_gets_what_it_missed(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({})).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    online(&desk).await;
    let (visitor, _) = tickets.hand_over(&server).await;
    let (seen, _) = numbered(&desk.event("ticket:assigned").await);
    drop(desk);
    for word in ["um", "dois", "três"] {
        visitor.say(word).await;
    }
    // Two desks of one user: each gets all of it, in order.
    for _ in 0..2 {
        let desk = desk_of(&server, &bia, Some(seen)).await;
        for (at, word) in (1..).zip(["um", "dois", "três"]) {
            let (seq, event) = numbered(&desk.event("ticket:message").await);
            assert_eq!((seq, &event["messages"][0]["text"]["body"]), (seen + at, &json!(word)));
        }
    }
    // One that has everything hears the next only, and one that begins now too.
    let (have_all, new) = (desk_of(&server, &bia, Some(seen + 3)).await, desk_of(&server, &bia, None).await);
    visitor.say("quatro").await;
    for desk in [&have_all, &new] {
        assert_eq!(numbered(&desk.event("ticket:message").await).0, seen + 4);
        assert!(!desk.names().iter().any(|name| name == "helpdesk:sync-required"), "{:?}", desk.names());
    }
    // A number that nobody gave is of another database.
    for unknown in [seen + 5, -1] {
        let desk = desk_of(&server, &bia, Some(unknown)).await;
        assert_eq!(numbered(&desk.event("helpdesk:sync-required").await).0, seen + 4, "{unknown}");
    }
}

async fn commands_do_what_the_routes_do(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    let nothing = desk.emit("agent:pickup", &json!({})).await;
    assert_eq!((&nothing["ok"], &nothing["code"]), (&json!(false), &json!("nothing_waiting")));
    assert_eq!(desk.emit("agent:heartbeat", &json!({})).await, json!({ "ok": true, "status": "offline" }));
    online(&desk).await;
    assert_eq!(desk.emit("agent:heartbeat", &json!({})).await, json!({ "ok": true, "status": "online" }));
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    let elsewhere = desk.emit("agent:pickup", &json!({ "queueId": "cnothing" })).await;
    assert_eq!(elsewhere["code"], "agent_not_in_queue");
    let picked = desk.emit("agent:pickup", &json!({ "queueId": queue })).await;
    assert_eq!((&picked["ok"], &picked["ticket"]["id"]), (&json!(true), &ticket["id"]));
    // Whatever is repeated under its id is sent once.
    let reply = json!({ "ticketId": ticket["id"], "text": "Olá", "commandId": "c-1" });
    let sent = desk.emit("agent:reply", &reply).await;
    assert_eq!(sent["ok"], true, "{sent}");
    assert_eq!(desk.emit("agent:reply", &reply).await, sent);
    let second = json!({ "ticketId": ticket["id"], "text": "Tudo bem?" });
    assert_eq!(desk.emit("agent:reply", &second).await["ok"], true);
    assert_eq!(visitor.texts(2).await, ["Olá", "Tudo bem?"]);
    let other = json!({ "ticketId": ticket["id"], "text": "outro", "commandId": "c-1" });
    assert_eq!(desk.emit("agent:reply", &other).await["code"], "idempotency_conflict");
    let moved = desk.emit("agent:transfer", &json!({ "ticketId": ticket["id"], "toUserId": user })).await;
    assert_eq!(moved["ticket"]["previousTicketId"], ticket["id"], "{moved}");
    let close = json!({ "ticketId": moved["ticket"]["id"], "reason": "resolvido" });
    assert_eq!(desk.emit("agent:close", &close).await["ticket"]["status"], "closed");
    assert_eq!(visitor.texts(1).await, ["Fim: resolvido"]);
    assert_eq!(desk.emit("agent:close", &close).await["code"], "ticket_closed");
    assert_eq!(desk.emit("helpdesk:refresh", &json!({})).await, json!({ "ok": true }));
}

async fn an_agent_hears_how_far_their_messages_came(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    assert_eq!(desk.emit("agent:pickup", &json!({})).await["ok"], true);
    let sent = desk.emit("agent:reply", &json!({ "ticketId": ticket["id"], "text": "Olá" })).await;
    assert_eq!(visitor.texts(1).await, ["Olá"]);
    let (_, delivered) = numbered(&desk.event("ticket:message-status").await);
    let expected = |status: &str| {
        json!({ "ticketId": ticket["id"], "chatId": ticket["chatId"], "messageId": sent["messageId"],
            "status": status })
    };
    assert_eq!(delivered, expected("delivered"));
    visitor.send("read", &json!({ "messageId": sent["messageId"] }));
    assert_eq!(numbered(&desk.event("ticket:message-status").await).1, expected("read"));
    let further = desk.names().contains(&"ticket:message-status".to_owned());
    assert!(!further, "messages of the flow are none of theirs");
}

async fn notes_are_for_agents(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, bia_id) = tickets.agent(&setup, &[&queue]).await;
    let (ivo, ivo_id) = tickets.agent(&setup, &[&queue]).await;
    let (visitor, ticket) = tickets.hand_over(&server).await;
    let (desk, other) = (desk_of(&server, &bia, None).await, desk_of(&server, &ivo, None).await);
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let path = format!("/tickets/{}/notes", id(&ticket));
    let body = json!({ "text": "Pagou duas vezes.", "mentionedUserIds": [ivo_id, ivo_id] });
    let key = [("idempotency-key", "n-1")];
    let note = bia.json("POST", &path, &key, &body).await.ok(200);
    assert_eq!(bia.json("POST", &path, &key, &body).await.ok(200), note);
    assert_eq!((&note["authorUserId"], &note["mentionedUserIds"]), (&json!(bia_id), &json!([ivo_id])));
    let told = async |desk: &Client| numbered(&told(&server, desk, "ticket:note").await).1;
    assert_eq!(told(&other).await["note"], note);
    let answer = ivo.post(&path, &json!({ "text": "Devolvo." })).await.ok(200);
    assert_eq!(told(&desk).await["note"], answer, "whoever has the ticket, not the author");
    // The next ticket of the chain has them, too.
    let transfer = format!("/tickets/{}/transfer", id(&ticket));
    let next = bia.post(&transfer, &json!({ "toUserId": ivo_id })).await.ok(200);
    let list = ivo.get(&format!("/tickets/{}/notes", id(&next))).await.ok(200);
    assert_eq!(list["items"], json!([answer, note]));
    assert_eq!(visitor.messages().len(), 1, "contacts never see notes");
    for (body, field) in [
        (json!({}), "text"),
        (json!({ "text": " " }), "text"),
        (json!({ "text": "x".repeat(4_097) }), "text"),
        (json!({ "text": "x", "mentionedUserIds": "y" }), "mentionedUserIds"),
    ] {
        assert_eq!(bia.post(&path, &body).await.invalid_fields(), [field]);
    }
    let nobody = json!({ "text": "x", "mentionedUserIds": ["cnobody"] });
    bia.post(&path, &nobody).await.refused(422, "agent_unknown", "O usuário não é agente deste roteador");
    let all = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    for answer in [stranger.get(&path).await, stranger.post(&path, &json!({ "text": "x" })).await] {
        answer.refused(404, "not_found", "Ticket não encontrado");
    }
}

async fn a_desk_ends_with_its_rights(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({})).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    bia.send("POST", "/auth/logout", &[], None).await.ok(204);
    desk.closed().await;
    let (ivo, user) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &ivo, None).await;
    online(&desk).await;
    let group = admin.get(&format!("/users/{user}")).await.ok(200)["groupId"].as_str().unwrap().to_owned();
    admin.patch(&format!("/groups/{group}"), &json!({ "permissions": [] })).await.ok(200);
    desk.closed().await;
}

async fn who_is_let_in(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let stranger = admin.member(&setup, &json!([{ "resource": "chats", "actions": ["read"] }]), &[]).await;
    let all = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let client = admin.post("/api-clients", &json!({ "name": "C", "permissions": all })).await.ok(201);
    let client = client["token"].as_str().unwrap().to_owned();
    setup.plant(&client);
    for (auth, code) in [
        (json!({}), "token_missing"),
        (json!({ "token": "" }), "token_missing"),
        (json!({ "token": 7 }), "token_missing"),
        (json!({ "token": "x.y.z" }), "token_invalid"),
        (json!({ "token": stranger.token }), "permission_denied"),
        (json!({ "token": client }), "user_only"),
    ] {
        let manner = Manner { socket: Some("desk"), ..Manner::default() };
        let refused = Client::open_as(server.addr, auth.clone(), manner).await;
        assert_eq!(refused.event("connect_error").await["message"], code, "{auth}");
    }
    desk_of(&server, &admin, None).await;
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let desk = desk_of(&server, &bia, None).await;
    let ticket = id(&ticket);
    let reason = json!({ "routerId": tickets.router, "key": "refunded", "label": "Reembolsado" });
    bia.post("/close-reasons", &reason).await.ok(201);
    for (event, payload, code) in [
        ("agent:status", json!({}), "invalid_payload"),
        ("agent:status", json!({ "status": "asleep" }), "invalid_payload"),
        ("agent:status", json!(["online"]), "invalid_payload"),
        ("agent:heartbeat", json!({ "x": 1 }), "invalid_payload"),
        ("agent:pickup", json!("now"), "invalid_payload"),
        ("agent:pickup", json!({ "queueId": 7 }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": ticket }), "validation_failed"),
        ("agent:reply", json!({ "ticketId": ticket, "content": { "type": "hologram" } }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": ticket, "text": " " }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": ticket, "text": "x".repeat(4_097) }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": "!", "text": "oi" }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": ticket, "text": "oi", "commandId": "" }), "invalid_payload"),
        ("agent:reply", json!({ "ticketId": ticket, "text": "oi" }), "ticket_waiting"),
        ("agent:reply", json!({ "ticketId": "cnothing", "text": "oi" }), "not_found"),
        ("agent:transfer", json!({ "ticketId": ticket }), "validation_failed"),
        ("agent:transfer", json!({ "ticketId": ticket, "toUserId": "cnobody" }), "agent_unknown"),
        ("agent:transfer", json!({ "ticketId": ticket, "other": 1 }), "invalid_payload"),
        ("agent:close", json!({ "ticketId": ticket }), "ticket_waiting"),
        ("agent:close", json!({ "ticketId": ticket, "reason": "" }), "invalid_payload"),
        ("agent:close", json!({ "ticketId": ticket, "tagIds": vec!["c"; 21] }), "invalid_payload"),
        ("agent:close", json!({ "ticketId": ticket, "reason": "resolvido" }), "close_reason_unknown"),
        ("agent:dance", json!({}), "event_unknown"),
        ("ticket:viewing", json!({ "ticketId": "cnothing" }), "not_found"),
        ("ticket:viewing", json!({ "ticketId": 1 }), "invalid_payload"),
        ("ticket:typing", json!({ "ticketId": "cnothing" }), "not_found"),
        ("ticket:typing", json!({}), "invalid_payload"),
        ("monitoring:join", json!({}), "permission_denied"),
        ("monitoring:dance", json!({}), "event_unknown"),
    ] {
        let answer = desk.emit(event, &payload).await;
        assert_eq!(
            (&answer["ok"], &answer["code"]),
            (&json!(false), &json!(code)),
            "{event} {payload} {answer}"
        );
        assert!(answer["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
    // Tickets of other routers are not there, and readers change nothing.
    let all = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    let desk = desk_of(&server, &stranger, None).await;
    for (event, payload) in [
        ("agent:reply", json!({ "ticketId": ticket, "text": "oi" })),
        ("agent:transfer", json!({ "ticketId": ticket, "toUserId": "x" })),
        ("agent:close", json!({ "ticketId": ticket })),
        ("ticket:viewing", json!({ "ticketId": ticket })),
        ("ticket:typing", json!({ "ticketId": ticket })),
    ] {
        assert_eq!(desk.emit(event, &payload).await["code"], "not_found", "{event}");
    }
    let read = json!([{ "resource": "helpdesk", "actions": ["read"] }]);
    let reader = admin.member(&setup, &read, &[]).await;
    let desk = desk_of(&server, &reader, None).await;
    let answer = desk.emit("agent:pickup", &json!({})).await;
    assert_eq!(answer["code"], "permission_denied");
}

async fn a_desk_that_was_away_for_two_days_loads_everything_anew(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let me = admin.get("/auth/me").await.ok(200)["id"].clone();
    let agent = json!({ "routerId": tickets.router, "userId": me });
    let agent = id(&admin.post("/agents", &agent).await.ok(201));
    admin.send("PUT", &format!("/queues/{queue}/agents/{agent}"), &[], None).await.ok(204);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let path = format!("/tickets/{}/assign", id(&ticket));
    admin.post(&path, &json!({ "userId": me })).await.ok(200);
    let desk = desk_of(&server, &admin, Some(0)).await;
    told(&server, &desk, "ticket:assigned").await;
    drop(desk);
    server.advance(Duration::from_secs(48 * 60 * 60)).await;
    // Their token is over by then.
    let admin = Api::admin(&setup, &server).await;
    eventually("what it has missed is forgotten", || async {
        server.advance(Duration::from_secs(600)).await;
        let desk = desk_of(&server, &admin, Some(0)).await;
        eventually("the desk begins", || async {
            desk.names().contains(&"helpdesk:waiting".to_owned()).then_some(())
        })
        .await;
        desk.names().contains(&"helpdesk:sync-required".to_owned()).then_some(())
    })
    .await;
}

async fn a_transfer_to_a_queue_is_told_to_its_agents(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let first = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let second = tickets.queue(&json!({ "name": "Outra", "distributionStrategy": "manual_pickup" })).await;
    let ((bia, user), (ivo, _)) =
        (tickets.agent(&setup, &[&first]).await, tickets.agent(&setup, &[&second]).await);
    let (desk, other) = (desk_of(&server, &bia, None).await, desk_of(&server, &ivo, None).await);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    assert_eq!(desk.emit("agent:pickup", &json!({})).await["ticket"]["id"], ticket["id"]);
    assert_eq!(other.event("helpdesk:waiting").await["total"], 0);
    let to_queue = json!({ "ticketId": ticket["id"], "toQueueId": second });
    let moved = desk.emit("agent:transfer", &to_queue).await["ticket"].clone();
    assert_eq!((&moved["status"], &moved["queueId"]), (&json!("waiting"), &json!(second)));
    assert_eq!((&moved["previousTicketId"], &moved["openReason"]), (&ticket["id"], &json!("queue_transfer")));
    assert_eq!((&moved["openedByKind"], &moved["openedByUserId"]), (&json!("agent"), &json!(user)));
    let counts = |event: &Value| (event["total"].clone(), event["byQueue"][0]["queueId"].clone());
    assert_eq!(counts(&told(&server, &other, "helpdesk:waiting").await), (json!(1), json!(second)));
    let gone = told(&server, &desk, "ticket:transferred").await;
    assert_eq!(
        (&gone["ticket"]["closeKind"], &gone["nextTicketId"]),
        (&json!("queue_transfer"), &moved["id"])
    );
    // Whoever asks is told what they know already.
    assert_eq!(other.emit("helpdesk:refresh", &json!({})).await, json!({ "ok": true }));
    assert_eq!(counts(&other.event("helpdesk:waiting").await), (json!(1), json!(second)));
}

async fn a_close_has_tags_and_a_block_where_the_flow_goes_on(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let limited = json!({ "distributionStrategy": "manual_pickup", "maxConcurrentTicketsPerAgent": 1 });
    let queue = tickets.queue(&limited).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    let (_other, _second) = tickets.hand_over(&server).await;
    assert_eq!(desk.emit("agent:pickup", &json!({})).await["ticket"]["id"], ticket["id"]);
    assert_eq!(desk.emit("agent:pickup", &json!({})).await["code"], "agent_limit_reached");
    let tag = json!({ "routerId": tickets.router, "name": "Cobrança" });
    let tag = id(&admin.post("/tags", &tag).await.ok(201));
    let close = async |tag: &str, block: &str| {
        let jump = json!({ "flowId": tickets.flow, "blockId": block });
        let close = json!({ "ticketId": ticket["id"], "tagIds": [tag], "jumpTarget": jump });
        desk.emit("agent:close", &close).await
    };
    assert_eq!(close("cnothing", "ask").await["code"], "tag_unknown");
    assert_eq!(close(&tag, "nowhere").await["code"], "block_not_found");
    let closed = close(&tag, "ask").await["ticket"].clone();
    assert_eq!((&closed["closeKind"], &closed["tagIds"]), (&json!("resolved"), &json!([tag])));
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
}

async fn a_desk_loads_anew_when_its_agent_works_in_other_queues(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({})).await;
    let other = tickets.queue(&json!({ "name": "Outra" })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let agents = admin.get(&format!("/agents?routerId={}", tickets.router)).await.ok(200);
    let member = format!("/queues/{other}/agents/{}", id(&agents["items"][0]));
    let desk = desk_of(&server, &bia, None).await;
    assert_eq!(desk.event("helpdesk:waiting").await["byQueue"].as_array().unwrap().len(), 1);
    // What waits in the same queues is no reason.
    let _waits = tickets.hand_over(&server).await;
    assert_eq!(told(&server, &desk, "helpdesk:waiting").await["total"], 1);
    assert_eq!(desk.names(), [""; 0]);
    for (method, queues) in [("PUT", 2), ("DELETE", 1)] {
        admin.send(method, &member, &[], None).await.ok(204);
        assert_eq!(told(&server, &desk, "helpdesk:sync-required").await["seq"], 0, "{method}");
        let waiting = told(&server, &desk, "helpdesk:waiting").await;
        assert_eq!(waiting["byQueue"].as_array().unwrap().len(), queues, "{method}");
    }
}
