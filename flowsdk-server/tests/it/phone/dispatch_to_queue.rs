//! Replies to a dispatch that go to people (spec A 4.8).

use serde_json::{Value, json};

use super::dispatch::{Desk, PHONE};
use super::transcript;
use crate::api::agents::agent;
use crate::api::building::{published, says};
use crate::harness::{Setup, eventually, everywhere};

everywhere!(in process: a_reply_goes_to_its_queue, a_reply_goes_to_its_queue_at_a_router_without_a_flow);

impl Desk {
    /// The one ticket of the router, once it is there.
    async fn ticket(&self) -> Value {
        let path = format!("/tickets?routerId={}", self.world.shop.router);
        eventually("a ticket", || async {
            let tickets = self.admin().get(&path).await.ok(200);
            tickets["items"].as_array().unwrap().first().cloned()
        })
        .await
    }
}

/// The queue goes before the flow, and people have the conversation from its first message on.
async fn a_reply_goes_to_its_queue(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let router = desk.world.shop.router.clone();
    desk.queue(&router, json!({ "name": "Primeira" })).await;
    let queue =
        desk.queue(&router, json!({ "name": "Cobrança", "distributionStrategy": "manual_pickup" })).await;
    let user = agent(desk.admin(), &router, "ana").await["userId"].clone();
    let mut body = desk.body();
    body["targetFlowId"] = published(desk.admin(), &router, "Pedido", &says("?")).await.into();
    body["targetQueueId"] = json!(queue);
    body["targetUserId"] = user.clone();
    desk.admin().post(&desk.path(), &body).await.ok(200);
    desk.world.sent(1).await;
    desk.world.says("sim");
    let ticket = desk.ticket().await;
    for (field, value) in [
        ("queueId", json!(queue)),
        ("status", json!("assigned")),
        ("assignedUserId", user),
        ("openReason", json!("human_handoff")),
    ] {
        assert_eq!(ticket[field], value, "{field}");
    }
    // What the contact writes further is for people, too, until the ticket ends.
    desk.world.says("alguém?");
    transcript(desk.admin(), PHONE, 3).await;
    assert_eq!(desk.world.sent(1).await.len(), 1, "no flow answers");
    let close = format!("/tickets/{}/close", ticket["id"].as_str().unwrap());
    desk.admin().post(&close, &json!({})).await.ok(200);
    eventually("the session has ended", || async {
        let sessions = desk.admin().get(&format!("/sessions?routerId={router}")).await.ok(200);
        sessions["items"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    desk.world.says("de novo");
    let sent = desk.world.sent(2).await;
    assert_eq!(sent[1].body["text"]["body"], "eco de novo");
}

async fn a_reply_goes_to_its_queue_at_a_router_without_a_flow(setup: Setup) {
    let desk = Desk::new(setup).await;
    desk.agrees(PHONE).await;
    let router = desk.world.shop.router.clone();
    desk.admin().patch(&format!("/routers/{router}"), &json!({ "initialFlowId": null })).await.ok(200);
    let queue = desk.queue(&router, json!({ "distributionStrategy": "manual_pickup" })).await;
    let mut body = desk.body();
    body["targetQueueId"] = json!(queue);
    desk.admin().post(&desk.path(), &body).await.ok(200);
    desk.world.sent(1).await;
    desk.world.says("sim");
    let ticket = desk.ticket().await;
    assert_eq!((&ticket["queueId"], &ticket["status"]), (&json!(queue), &json!("waiting")));
    let user = agent(desk.admin(), &router, "ana").await["userId"].clone();
    let path = format!("/tickets/{}", ticket["id"].as_str().unwrap());
    let next = desk.admin().post(&format!("{path}/transfer"), &json!({ "toUserId": user })).await.ok(200);
    let close = format!("/tickets/{}/close", next["id"].as_str().unwrap());
    desk.admin().post(&close, &json!({})).await.ok(200);
    eventually("the session has ended, and is not frozen", || async {
        let sessions = desk.admin().get(&format!("/sessions?routerId={router}")).await.ok(200);
        sessions["items"].as_array().unwrap().is_empty().then_some(())
    })
    .await;
    desk.world.says("oi?");
    transcript(desk.admin(), PHONE, 3).await;
}
