//! People who answer by phone (spec B 3.2, 4.8; rulings C1).

use std::time::Duration;

use flowsdk_server::simulator::Fault;
use serde_json::{Value, json};

use super::sending::{World, texts};
use crate::api::building::id;
use crate::api::desk::{desk_of, told};
use crate::api::tickets::Tickets;
use crate::harness::{Api, Client, Setup, eventually, everywhere};

everywhere!(in process: a_contact_who_cannot_be_answered_ends_the_ticket, nobody_writes_after_the_window);

/// A contact whose ticket an agent has.
struct Attended {
    world: World,
    agent: Api,
    desk: Client,
    ticket: Value,
}

impl Attended {
    async fn new(setup: Setup) -> Self {
        let world = World::new(setup, true).await;
        let tickets = Tickets::of_router(&world.admin, &world.shop.router).await;
        let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
        let (agent, _) = tickets.agent(&world.setup, &[&queue]).await;
        let desk = desk_of(&world.server, &agent, None).await;
        world.says("oi");
        world.sent(1).await;
        world.says("fatura");
        let ticket = eventually("a ticket", || async {
            let picked = desk.emit("agent:pickup", &json!({})).await;
            picked["ok"].as_bool().unwrap().then(|| picked["ticket"].clone())
        })
        .await;
        Self { world, agent, desk, ticket }
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
