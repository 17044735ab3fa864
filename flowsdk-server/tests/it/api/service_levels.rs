//! Service levels of queues, from outside.

use std::time::Duration;

use serde_json::json;

use super::building::id;
use super::desk::{desk_of, online};
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(an_agent_is_told_of_a_ticket_in_danger);
everywhere!(in process: a_report_shows_what_was_kept);

async fn an_agent_is_told_of_a_ticket_in_danger(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    // It is warned of after 600 milliseconds.
    let queue =
        tickets.queue(&json!({ "serviceLevel": { "resolutionMinutes": 1, "warnAtPercent": 1 } })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    online(&desk).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    desk.event("ticket:assigned").await;
    server.advance(Duration::from_secs(6)).await;
    let told = desk.event("ticket:service-level").await;
    assert_eq!((&told["target"], &told["status"]), (&json!("resolution"), &json!("warned")), "{told}");
    let service = &told["ticket"]["service"];
    assert_eq!((&told["ticket"]["id"], &service["firstResponse"]), (&ticket["id"], &json!(null)));
    assert_eq!(service["resolution"]["status"], "warned");
    let path = format!("/tickets/{}", id(&ticket));
    let closed = bia.post(&format!("{path}/close"), &json!({})).await.ok(200);
    let resolution = &closed["service"]["resolution"];
    assert_eq!((&resolution["status"], &resolution["reachedAt"]), (&json!("met"), &closed["closedAt"]));
    assert_eq!(admin.get(&path).await.ok(200)["service"], closed["service"]);
}

async fn a_report_shows_what_was_kept(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let level = json!({ "firstResponseMinutes": 1, "resolutionMinutes": 2 });
    let queue =
        tickets.queue(&json!({ "distributionStrategy": "manual_pickup", "serviceLevel": level })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let path = format!("/tickets/{}", id(&ticket));
    bia.post(&format!("{path}/messages"), &json!({ "text": "Oi" })).await.ok(201);
    server.advance(Duration::from_secs(121)).await;
    bia.post(&format!("{path}/close"), &json!({})).await.ok(200);
    server.advance(Duration::from_secs(6)).await;
    let report = format!("/helpdesk/reports/tickets?routerId={}&groupBy=queue", tickets.router);
    let total = admin.get(&report).await.ok(200)["total"].clone();
    assert_eq!(total["firstResponseLevel"], json!({ "met": 1, "breached": 0 }));
    assert_eq!(total["resolutionLevel"], json!({ "met": 0, "breached": 1 }));
}
