//! People who answer by phone (spec B 3.2, 4.8; rulings C1).

use std::time::Duration;

use flowsdk_server::simulator::Fault;
use serde_json::{Value, json};

use super::sending::{PHONE, World, texts};
use super::{Shop, deliver, delivery, now};
use crate::api::building::id;
use crate::api::desk::{desk_of, told};
use crate::api::tickets::Tickets;
use crate::harness::{Api, Client, Setup, eventually, everywhere};

everywhere!(in process:
    a_contact_who_cannot_be_answered_ends_the_ticket,
    nobody_writes_after_the_window,
    an_agent_hears_that_a_recording_was_played,
);

/// A contact whose ticket an agent has.
struct Attended {
    world: World,
    agent: Api,
    desk: Client,
    /// The desk of another agent of the queue.
    other: Client,
    ticket: Value,
}

impl Attended {
    async fn new(setup: Setup) -> Self {
        let world = World::new(setup, true).await;
        let tickets = Tickets::of_router(&world.admin, &world.shop.router).await;
        let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
        let (agent, _) = tickets.agent(&world.setup, &[&queue]).await;
        let (other, _) = tickets.agent(&world.setup, &[&queue]).await;
        let desk = desk_of(&world.server, &agent, None).await;
        let other = desk_of(&world.server, &other, None).await;
        world.says("oi");
        world.sent(1).await;
        world.says("fatura");
        let ticket = eventually("a ticket", || async {
            let picked = desk.emit("agent:pickup", &json!({})).await;
            picked["ok"].as_bool().unwrap().then(|| picked["ticket"].clone())
        })
        .await;
        Self { world, agent, desk, other, ticket }
    }

    async fn reply(&self, text: &str) -> Value {
        self.desk.emit("agent:reply", &json!({ "ticketId": self.ticket["id"], "text": text })).await
    }

    /// Waits until the desk is told this status of a message, and returns the event.
    async fn status(&self, message: &Value, status: &str) -> Value {
        loop {
            let event = told(&self.world.server, &self.desk, "ticket:message-status").await;
            assert_eq!((&event["messageId"], &event["ticketId"]), (message, &self.ticket["id"]));
            if event["status"] == status {
                return event;
            }
        }
    }
}

async fn a_contact_who_cannot_be_answered_ends_the_ticket(setup: Setup) {
    let attended = Attended::new(setup).await;
    let (world, desk) = (&attended.world, &attended.desk);
    let first = attended.reply("Olá").await;
    assert_eq!(texts(&world.sent(2).await), ["Sobre?", "Olá"]);
    attended.status(&first["messageId"], "read").await;
    world.provider.fail_next(Fault::FailStatus { code: 131_047 });
    let second = attended.reply("Ainda aí?").await;
    let failed = attended.status(&second["messageId"], "failed").await;
    assert_eq!(failed["error"]["code"], 131_047);
    let expired = told(&world.server, desk, "ticket:window_expired").await;
    let told = &expired["ticket"];
    assert_eq!((&told["id"], &told["closeKind"]), (&attended.ticket["id"], &json!("meta_window_expired")));
    assert_eq!(attended.reply("Olá?").await["code"], "ticket_closed");
    // The flow has the contact again.
    assert_eq!(texts(&world.sent(4).await)[3], "Fim: meta_window_expired");
}

async fn nobody_writes_after_the_window(setup: Setup) {
    let attended = Attended::new(setup.with("JWT_ACCESS_EXPIRES_IN", "48h")).await;
    let path = format!("/tickets/{}/messages", id(&attended.ticket));
    attended.world.server.advance(Duration::from_secs(24 * 3_600)).await;
    assert_eq!(attended.reply("Olá").await["code"], "window_closed");
    let refused = attended.agent.post(&path, &json!({ "text": "Olá" })).await;
    refused.refused(409, "window_closed", "A janela de 24 horas do contato está fechada");
    assert_eq!(texts(&attended.world.sent(1).await), ["Sobre?"]);
}

/// The provider tells `played` of recordings only. What another business tells of the message is not heard, and what the
/// provider tells of messages of the flow is none of an agent's.
async fn an_agent_hears_that_a_recording_was_played(setup: Setup) {
    let attended = Attended::new(setup).await;
    let (world, desk) = (&attended.world, &attended.desk);
    let recording = json!({ "type": "audio", "audio": { "id": "4711" } });
    let recording = json!({ "ticketId": attended.ticket["id"], "content": recording });
    let recording = desk.emit("agent:reply", &recording).await["messageId"].clone();
    let sent = world.sent(2).await;
    assert_eq!(sent[1].body["audio"], json!({ "id": "4711" }));
    attended.status(&recording, "read").await;
    let stranger = Shop::new(&world.admin, "Outra", "222", "another-secret").await;
    let played = stranger
        .entry(json!({ "statuses": [{ "id": sent[1].id, "status": "played", "timestamp": now(),
        "recipient_id": PHONE, "biz_opaque_callback_data": recording }] }));
    assert_eq!(deliver(&world.server, &stranger, &delivery(&[played])).await.status, 200);
    world.provider.tell_status(&sent[0], "played");
    // What is told of the next message comes behind.
    let next = attended.reply("Ouviu?").await;
    attended.status(&next["messageId"], "read").await;
    let path = format!("/messages/{}", recording.as_str().unwrap());
    assert_eq!(world.admin.get(&path).await.ok(200)["status"], "read");
    world.provider.tell_status(&sent[1], "played");
    attended.status(&recording, "played").await;
    assert_eq!(world.admin.get(&path).await.ok(200)["status"], "played");
    // Nobody else has the ticket.
    let heard = attended.other.names();
    assert!(!heard.contains(&"ticket:message-status".to_owned()), "{heard:?}");
}
