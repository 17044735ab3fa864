//! Tickets (spec B 3.2, 4.7; rulings D2, D4, D5).

use std::time::Duration;

use serde_json::{Value, json};

use super::building::{id, published, shop, visitor};
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere, http};

everywhere!(
    a_conversation_goes_to_people_and_comes_back,
    a_transfer_stays_with_people,
    stuck_handoffs_are_counted,
);
everywhere!(in process:
    tickets_are_listed,
    what_is_refused,
    tickets_of_other_routers_are_not_there,
    an_answer_is_sent_once_for_each_key,
    an_answer_is_a_text_or_a_content,
    many_tickets_are_transferred_and_closed,
    handoffs_without_a_queue_are_shown,
    a_silent_contact_abandons_the_ticket,
);

/// Asks, hands over to people, and says how it ended.
fn attended() -> Value {
    json!({ "schemaVersion": 1, "startBlockId": "ask", "blocks": [
        { "id": "ask", "type": "content", "contents": [{ "type": "text", "text": { "body": "Sobre?" } }],
            "input": { "variable": "subject" }, "defaultOutput": { "blockId": "people" } },
        { "id": "people", "type": "human", "outputConditions": [], "defaultOutput": { "blockId": "bye" } },
        { "id": "bye", "type": "content",
            "contents": [{ "type": "text", "text": { "body": "Fim: {{ticket.exit.key}}" } }],
            "input": { "variable": "x" }, "defaultOutput": { "blockId": "ask" } },
    ] })
}

/// A shop whose flow hands over to people.
pub struct Tickets {
    pub router: String,
    pub flow: String,
    pub channel: String,
    pub admin: Api,
}

impl Tickets {
    pub async fn new(admin: &Api) -> Self {
        let (router, flow, channel) = shop(admin, "Atendida", &attended()).await;
        Self { router, flow, channel, admin: admin.clone() }
    }

    /// Lets the flow of a router that is there hand over to people.
    pub async fn of_router(admin: &Api, router: &str) -> Self {
        let flow = published(admin, router, "Atendida", &attended()).await;
        admin.patch(&format!("/routers/{router}"), &json!({ "initialFlowId": flow })).await.ok(200);
        let channel = json!({ "routerId": router, "name": "Loja" });
        let channel = id(&admin.post("/webchat/channels", &channel).await.ok(201));
        Self { router: router.to_owned(), flow, channel, admin: admin.clone() }
    }

    pub async fn queue(&self, settings: &Value) -> String {
        let mut body = json!({ "routerId": self.router, "name": "Fila" });
        body.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        id(&self.admin.post("/queues", &body).await.ok(201))
    }

    /// A user who works in these queues.
    pub async fn agent(&self, setup: &Setup, queues: &[&str]) -> (Api, String) {
        let desk = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
        let api = self.admin.member(setup, &desk, &[&self.router]).await;
        let user = api.get("/auth/me").await.ok(200)["id"].as_str().unwrap().to_owned();
        let agent = json!({ "routerId": self.router, "userId": user });
        let agent = id(&self.admin.post("/agents", &agent).await.ok(201));
        for queue in queues {
            self.admin.send("PUT", &format!("/queues/{queue}/agents/{agent}"), &[], None).await.ok(204);
        }
        (api, user)
    }

    /// A visitor whom the flow hands over, and their ticket.
    pub async fn hand_over(&self, server: &Server) -> (Client, Value) {
        let known = self.list("").await.len();
        let client = self.arrive(server).await;
        let ticket = eventually("a ticket", || async {
            let mut all = self.list("").await;
            (all.len() > known).then(|| all.remove(0))
        })
        .await;
        (client, ticket)
    }

    pub async fn arrive(&self, server: &Server) -> Client {
        let mut client = visitor(server, &self.channel).await;
        client.say("oi").await;
        assert_eq!(client.texts(1).await, ["Sobre?"]);
        client.say("fatura").await;
        client
    }

    pub async fn list(&self, query: &str) -> Vec<Value> {
        let list = self.admin.get(&format!("/tickets?routerId={}{query}", self.router)).await.ok(200);
        list["items"].as_array().unwrap().clone()
    }

    /// The ticket, once it is like this.
    pub async fn becomes(&self, ticket: &str, field: &str, value: &Value) -> Value {
        eventually(&format!("{field} of the ticket is {value}"), || async {
            let ticket = self.admin.get(&at(ticket, "")).await.ok(200);
            (ticket[field] == *value).then_some(ticket)
        })
        .await
    }
}

fn at(ticket: &str, command: &str) -> String {
    format!("/tickets/{ticket}{command}")
}

fn text(body: &str) -> Value {
    json!({ "text": body })
}

async fn a_conversation_goes_to_people_and_comes_back(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({})).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (mut visitor, ticket) = desk.hand_over(&server).await;
    let path = |command: &str| at(&id(&ticket), command);
    assert_eq!(ticket.as_object().unwrap().len(), 32, "{ticket}");
    assert_eq!((&ticket["status"], &ticket["queueId"]), (&json!("waiting"), &json!(queue)));
    assert_eq!((&ticket["kind"], &ticket["openReason"]), (&json!("human"), &json!("human_handoff")));
    // The queue gives it to whoever comes online.
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    let ticket = bia.get(&path("")).await.ok(200);
    assert_eq!((&ticket["status"], &ticket["assignedUserId"]), (&json!("assigned"), &json!(user)));
    let sent = bia.post(&path("/messages"), &text("Como posso ajudar?")).await;
    let message = sent.ok(201);
    assert_eq!(sent.headers["location"], format!("/api/messages/{}", message["messageId"].as_str().unwrap()));
    let answer = visitor.next_messages(1).await.remove(0);
    assert_eq!(answer["text"]["body"], "Como posso ajudar?");
    assert_eq!(answer["sender"], json!({ "kind": "human", "name": "Bia" }));
    visitor.say("a segunda via").await;
    let before = ticket["contactWroteAt"].clone();
    eventually("the contact wrote", || async {
        (bia.get(&path("")).await.ok(200)["contactWroteAt"] != before).then_some(())
    })
    .await;
    let closed = bia.post(&path("/close"), &json!({ "reason": "resolvido" })).await.ok(200);
    assert_eq!((&closed["status"], &closed["closeKind"]), (&json!("closed"), &json!("resolved")));
    assert_eq!((&closed["closedByUserId"], &closed["closeReason"]), (&json!(user), &json!("resolvido")));
    assert_eq!(visitor.texts(1).await, ["Fim: resolvido"]);
    bia.post(&path("/messages"), &text("mais")).await.refused(
        409,
        "ticket_closed",
        "O ticket já está fechado",
    );
    // The flow has the conversation again.
    visitor.say("oi").await;
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
}

async fn a_transfer_stays_with_people(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let first = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let second = desk.queue(&json!({ "name": "Outra", "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = desk.agent(&setup, &[&first, &second]).await;
    let (ivo, other) = desk.agent(&setup, &[&second]).await;
    assert_eq!(bia.send("POST", "/tickets/pickup", &[], None).await.ok(200), json!({ "ticket": null }));
    let (mut visitor, ticket) = desk.hand_over(&server).await;
    let picked = bia.send("POST", "/tickets/pickup", &[], None).await.ok(200)["ticket"].clone();
    assert_eq!((&picked["id"], &picked["assignedUserId"]), (&ticket["id"], &json!(user)));
    let next = bia.post(&at(&id(&ticket), "/transfer"), &json!({ "toUserId": other })).await.ok(200);
    assert_eq!((&next["status"], &next["assignedUserId"]), (&json!("assigned"), &json!(other)));
    assert_eq!((&next["previousTicketId"], &next["openReason"]), (&ticket["id"], &json!("agent_transfer")));
    let refused = bia.post(&at(&id(&next), "/messages"), &text("ainda eu")).await;
    refused.refused(409, "ticket_assigned", "O ticket está atribuído a outro agente");
    ivo.post(&at(&id(&next), "/messages"), &text("agora eu")).await.ok(201);
    assert_eq!(visitor.texts(1).await, ["agora eu"]);
    let last = ivo.post(&at(&id(&next), "/transfer"), &json!({ "toQueueId": second })).await.ok(200);
    assert_eq!((&last["status"], &last["queueId"]), (&json!("waiting"), &json!(second)));
    let refused = ivo.post(&at(&id(&last), "/close"), &json!({})).await;
    refused.refused(409, "ticket_waiting", "O ticket ainda não foi atribuído");
    let assigned = bia.post(&at(&id(&last), "/assign"), &json!({ "userId": other })).await.ok(200);
    assert_eq!(assigned["assignedUserId"], json!(other));
    let jump = json!({ "jumpTarget": { "flowId": desk.flow, "blockId": "ask" } });
    ivo.post(&at(&id(&last), "/close"), &jump).await.ok(200);
    assert_eq!(visitor.texts(1).await, ["Sobre?"]);
    let chain = desk.list(&format!("&chatId={}", ticket["chatId"].as_str().unwrap())).await;
    let kinds: Vec<_> = chain.iter().rev().map(|ticket| ticket["closeKind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["agent_transfer", "queue_transfer", "resolved"]);
}

async fn tickets_are_listed(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (_ana, first) = desk.hand_over(&server).await;
    server.advance(Duration::from_secs(1)).await;
    let (_eva, second) = desk.hand_over(&server).await;
    bia.send("POST", "/tickets/pickup", &[], None).await.ok(200);
    let ids = async |query: &str| {
        let list = bia.get(&format!("/tickets?{query}")).await.ok(200);
        list["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>()
    };
    let (first, second, chat) = (id(&first), id(&second), second["chatId"].as_str().unwrap().to_owned());
    for (query, expected) in [
        (String::new(), vec![&second, &first]),
        ("status=waiting".to_owned(), vec![&second]),
        ("status=assigned".to_owned(), vec![&first]),
        ("status=closed".to_owned(), vec![]),
        (format!("queueId={queue}"), vec![&second, &first]),
        (format!("queueId={queue}&status=waiting"), vec![&second]),
        (format!("assignedUserId={user}"), vec![&first]),
        (format!("assignedUserId={user}&status=assigned"), vec![&first]),
        (format!("chatId={chat}"), vec![&second]),
        (format!("routerId={}", desk.router), vec![&second, &first]),
        ("queueId=cnothing".to_owned(), vec![]),
    ] {
        assert_eq!(ids(&query).await.iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let page = bia.get("/tickets?limit=1").await.ok(200);
    let next = format!("limit=1&cursor={}", page["nextCursor"].as_str().unwrap());
    assert_eq!(ids(&next).await, [first]);
    assert_eq!(bia.get("/tickets?status=open").await.invalid_fields(), ["status"]);
}

async fn what_is_refused(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk
        .queue(&json!({ "distributionStrategy": "manual_pickup", "maxConcurrentTicketsPerAgent": 1 }))
        .await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (_, idle) = desk.agent(&setup, &[]).await;
    let (_ana, ticket) = desk.hand_over(&server).await;
    let (_eva, second) = desk.hand_over(&server).await;
    let ticket = id(&ticket);
    let post = async |command: &str, body: Value| bia.post(&at(&ticket, command), &body).await;
    let waiting = "O ticket ainda não foi atribuído";
    post("/messages", text("oi")).await.refused(409, "ticket_waiting", waiting);
    let text_of = "O agente não está na fila do ticket";
    post("/assign", json!({ "userId": idle })).await.refused(422, "agent_not_in_queue", text_of);
    let chosen = post("/assign", json!({})).await.ok(200);
    assert_eq!(chosen["status"], "waiting", "a queue for pickup chooses nobody");
    post("/assign", json!({ "userId": user })).await.ok(200);
    let taken = "O ticket está atribuído a outro agente";
    post("/assign", json!({})).await.refused(409, "ticket_assigned", taken);
    post("/assign", json!({ "userId": idle })).await.refused(409, "ticket_assigned", taken);
    let full = bia.post(&at(&id(&second), "/assign"), &json!({ "userId": user })).await;
    full.refused(409, "agent_limit_reached", "O agente já tem o máximo de tickets da fila");
    for path in ["/tickets/pickup".to_owned(), format!("/tickets/pickup?queueId={queue}")] {
        let full = bia.send("POST", &path, &[], None).await;
        full.refused(409, "agent_limit_reached", "O agente já tem o máximo de tickets da fila");
    }
    let elsewhere = bia.send("POST", "/tickets/pickup?queueId=cnothing", &[], None).await;
    elsewhere.refused(422, "agent_not_in_queue", text_of);
    let odd = bia.send("POST", "/tickets/pickup?queueId=!", &[], None).await;
    assert_eq!(odd.invalid_fields(), ["queueId"]);
    for (body, field) in [
        (json!({}), "text"),
        (text(""), "text"),
        (text("  "), "text"),
        (text(&"x".repeat(4_097)), "text"),
        (json!({ "text": 1 }), "text"),
        (json!({ "text": "a", "other": 1 }), "other"),
    ] {
        assert_eq!(post("/messages", body).await.invalid_fields(), [field]);
    }
    for body in [json!({}), json!({ "toUserId": user, "toQueueId": queue }), json!({ "toUserId": null })] {
        assert_eq!(post("/transfer", body).await.invalid_fields(), ["toUserId"]);
    }
    let unknown = "O usuário não é agente deste roteador";
    post("/transfer", json!({ "toUserId": "cnobody" })).await.refused(422, "agent_unknown", unknown);
    let unknown = "A fila não existe neste roteador ou está inativa";
    let off = desk.queue(&json!({ "name": "Fechada", "isActive": false })).await;
    for queue in ["cnothing", &off] {
        post("/transfer", json!({ "toQueueId": queue })).await.refused(422, "queue_unknown", unknown);
    }
    for (body, field) in [
        (json!({ "reason": "" }), "reason"),
        (json!({ "reason": "x".repeat(201) }), "reason"),
        (json!({ "jumpTarget": { "flowId": desk.flow } }), "jumpTarget.blockId"),
        (json!({ "jumpTarget": "ask" }), "jumpTarget"),
    ] {
        assert_eq!(post("/close", body).await.invalid_fields(), [field]);
    }
    let nowhere = json!({ "jumpTarget": { "flowId": setup.seeded.foreign_flow, "blockId": "again" } });
    let unknown = "O bloco não existe em um flow publicado deste roteador";
    post("/close", nowhere).await.refused(422, "block_not_found", unknown);
    post("/close", json!({})).await.ok(200);
    for (command, body) in [
        ("/close", json!({})),
        ("/messages", text("oi")),
        ("/assign", json!({ "userId": user })),
        ("/transfer", json!({ "toUserId": user })),
    ] {
        post(command, body).await.refused(409, "ticket_closed", "O ticket já está fechado");
    }
    bia.get(&at("cnothing", "")).await.refused(404, "not_found", "Ticket não encontrado");
}

async fn tickets_of_other_routers_are_not_there(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (_ana, ticket) = desk.hand_over(&server).await;
    let all = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let stranger = admin.member(&setup, &all, &[&setup.seeded.router]).await;
    let ticket = id(&ticket);
    for answer in [
        stranger.get(&at(&ticket, "")).await,
        stranger.post(&at(&ticket, "/assign"), &json!({})).await,
        stranger.post(&at(&ticket, "/messages"), &text("oi")).await,
        stranger.post(&at(&ticket, "/transfer"), &json!({ "toQueueId": "q" })).await,
        stranger.post(&at(&ticket, "/close"), &json!({})).await,
    ] {
        answer.refused(404, "not_found", "Ticket não encontrado");
    }
    assert_eq!(stranger.get("/tickets").await.ok(200)["items"], json!([]));
    assert_eq!(
        stranger
            .get(&format!("/tickets?queueId={}", desk.list("").await[0]["queueId"].as_str().unwrap()))
            .await
            .ok(200)["items"],
        json!([])
    );
    for path in ["/tickets", "/helpdesk/stuck-handoffs"] {
        let answer = stranger.get(&format!("{path}?routerId={}", desk.router)).await;
        answer.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    }
    assert_eq!(stranger.send("POST", "/tickets/pickup", &[], None).await.ok(200), json!({ "ticket": null }));
    let read = json!([{ "resource": "helpdesk", "actions": ["read"] }]);
    let eva = admin.member(&setup, &read, &[]).await;
    eva.get(&at(&ticket, "")).await.ok(200);
    for command in ["/assign", "/messages", "/transfer", "/close"] {
        let answer = eva.post(&at(&ticket, command), &json!({})).await;
        answer.refused(403, "permission_denied", "Sem permissão");
    }
    Api::anonymous(&server).get("/tickets").await.assert_error(401);
}

async fn an_answer_is_sent_once_for_each_key(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({})).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (mut visitor, ticket) = desk.hand_over(&server).await;
    let path = at(&id(&ticket), "/messages");
    bia.post(&at(&id(&ticket), "/assign"), &json!({ "userId": user })).await.ok(200);
    let key = [("idempotency-key", "k-1")];
    let first = bia.json("POST", &path, &key, &text("um")).await.ok(201);
    assert_eq!(bia.json("POST", &path, &key, &text("um")).await.ok(201), first);
    assert_eq!(bia.json("POST", &path, &key, &text("dois")).await.status, 409);
    bia.post(&path, &text("dois")).await.ok(201);
    assert_eq!(visitor.texts(2).await, ["um", "dois"]);
    let token = admin
        .post(
            "/api-clients",
            &json!({ "name": "C", "permissions":
        [{ "resource": "helpdesk", "actions": ["read", "write"] }] }),
        )
        .await
        .ok(201);
    setup.plant(token["token"].as_str().unwrap());
    let machine = admin.with(token["token"].as_str().unwrap());
    assert_eq!(machine.post(&path, &text("oi")).await.json()["code"], "user_only");
}

async fn an_answer_is_a_text_or_a_content(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({})).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (mut visitor, ticket) = desk.hand_over(&server).await;
    let path = at(&id(&ticket), "/messages");
    bia.post(&at(&id(&ticket), "/assign"), &json!({ "userId": user })).await.ok(200);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let upload = async |router: &str| {
        id(&admin.send("POST", &format!("/media?routerId={router}"), &[], Some(png)).await.ok(201))
    };
    let (own, foreign) = (upload(&desk.router).await, upload(&setup.seeded.router).await);
    let image = |file: Value| json!({ "content": { "type": "image", "image": file } });
    let link = image(json!({ "link": "https://example.com/a.png", "caption": "A" }));
    bia.post(&path, &link).await.ok(201);
    bia.post(&path, &image(json!({ "id": own }))).await.ok(201);
    let shown = visitor.next_messages(2).await;
    assert_eq!(shown[0]["image"]["link"], "https://example.com/a.png");
    assert_eq!((&shown[1]["type"], &shown[1]["sender"]["kind"]), (&json!("image"), &json!("human")));
    let both = json!({ "text": "oi", "content": { "type": "text", "text": { "body": "oi" } } });
    for (body, status, code) in [
        (json!({}), 400, "validation_failed"),
        (both, 400, "validation_failed"),
        (json!({ "content": { "type": "hologram" } }), 400, "validation_failed"),
        (image(json!({})), 400, "validation_failed"),
        (image(json!({ "link": "not a link" })), 400, "validation_failed"),
        (json!({ "content": { "type": "text", "text": { "body": " " } } }), 400, "validation_failed"),
        (image(json!({ "id": foreign })), 422, "media_unknown"),
        (image(json!({ "id": "cnothing" })), 422, "media_unknown"),
        (
            json!({ "content": { "type": "template", "template": { "name": "t", "language": { "code": "pt_BR" } } } }),
            422,
            "content_unsupported",
        ),
    ] {
        let answer = bia.post(&path, &body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{body} {answer:?}");
    }
}

async fn many_tickets_are_transferred_and_closed(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let queue = desk.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = desk.agent(&setup, &[&queue]).await;
    let (_ana, first) = desk.hand_over(&server).await;
    let (_eva, second) = desk.hand_over(&server).await;
    let other = Tickets::new(&admin).await;
    other.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (_ivo, foreign) = other.hand_over(&server).await;
    let (first, second) = (id(&first), id(&second));
    let body = json!({ "ticketIds": [first, "cnothing", foreign["id"], second], "toUserId": user });
    let done = bia.post("/tickets/bulk/transfer", &body).await.ok(200)["items"].clone();
    let codes: Vec<_> = done.as_array().unwrap().iter().map(|one| one["code"].clone()).collect();
    assert_eq!(codes, [json!(null), json!("not_found"), json!("not_found"), json!(null)]);
    assert_eq!(
        (&done[0]["ticketId"], &done[0]["ticket"]["previousTicketId"]),
        (&json!(first), &json!(first))
    );
    assert_eq!(done[1]["ticket"], json!(null));
    let ours = [id(&done[0]["ticket"]), id(&done[3]["ticket"])];
    let unclear = bia.post("/tickets/bulk/transfer", &json!({ "ticketIds": ours })).await.ok(200);
    assert_eq!(unclear["items"][1]["code"], "validation_failed");
    let body = json!({ "ticketIds": [first, ours[0], ours[1]], "reason": "fim do dia" });
    let done = bia.post("/tickets/bulk/close", &body).await.ok(200)["items"].clone();
    assert_eq!(done[0]["code"], "ticket_closed");
    for closed in [&done[1]["ticket"], &done[2]["ticket"]] {
        assert_eq!((&closed["status"], &closed["closeReason"]), (&json!("closed"), &json!("fim do dia")));
    }
    for command in ["transfer", "close"] {
        let path = format!("/tickets/bulk/{command}");
        assert_eq!(bia.post(&path, &json!({ "ticketIds": [] })).await.ok(200), json!({ "items": [] }));
        for wrong in [json!({}), json!({ "ticketIds": "a" }), json!({ "ticketIds": vec!["a"; 101] })] {
            assert_eq!(bia.post(&path, &wrong).await.invalid_fields(), ["ticketIds"], "{wrong}");
        }
    }
}

async fn handoffs_without_a_queue_are_shown(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let mut visitor = desk.arrive(&server).await;
    let words = "Ninguém pode atender você agora. O que você escrever fica guardado e será respondido.";
    assert_eq!(visitor.texts(1).await, [words]);
    let stuck = async || {
        let path = format!("/helpdesk/stuck-handoffs?routerId={}", desk.router);
        admin.get(&path).await.ok(200)["items"].as_array().unwrap().clone()
    };
    let one = eventually("the handoff is stuck", || async { stuck().await.pop() }).await;
    assert_eq!((&one["routerId"], &one["attempts"]), (&json!(desk.router), &json!(1)));
    assert_eq!(one.as_object().unwrap().len(), 7, "{one}");
    let queue = desk.queue(&json!({})).await;
    server.advance(Duration::from_secs(5)).await;
    let ticket = eventually("a ticket", || async {
        server.advance(Duration::from_secs(1)).await;
        desk.list("").await.pop()
    })
    .await;
    assert_eq!((&ticket["status"], &ticket["queueId"]), (&json!("waiting"), &json!(queue)));
    assert_eq!(stuck().await, [""; 0]);
    assert_eq!(visitor.messages().len(), 2, "they are told once");
}

/// Servers of one process have the metrics of all of them, so this one has its own.
async fn stuck_handoffs_are_counted(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    let becomes = async |count: u32| {
        let line = format!("flowsdk_stuck_handoffs {count}");
        eventually(&line, || async {
            let metrics = http::get(server.addr, "/metrics", &[]).await;
            metrics.body.lines().any(|found| found == line).then_some(())
        })
        .await;
    };
    becomes(0).await;
    let _waiting = [desk.arrive(&server).await, desk.arrive(&server).await];
    becomes(2).await;
    desk.queue(&json!({})).await;
    becomes(0).await;
}

async fn a_silent_contact_abandons_the_ticket(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let desk = Tickets::new(&admin).await;
    desk.queue(&json!({ "abandonAfterMinutes": 10 })).await;
    let (mut visitor, ticket) = desk.hand_over(&server).await;
    server.advance(Duration::from_secs(600)).await;
    let closed = desk.becomes(&id(&ticket), "status", &json!("closed")).await;
    assert_eq!(closed["closeKind"], "abandoned");
    assert_eq!(visitor.texts(1).await, ["Fim: abandoned"]);
}
