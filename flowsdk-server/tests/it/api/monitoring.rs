//! The figures of supervisors, by the desk socket and by HTTP (spec B 4.8).

use std::time::Duration;

use serde_json::{Value, json};

use super::building::id;
use super::desk::desk_of;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, eventually, everywhere};

everywhere!(supervisors_watch_the_figures);
everywhere!(in process: figures_are_those_of_the_routers_within_reach);

async fn supervisors_watch_the_figures(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let reports = json!([{ "resource": "helpdesk", "actions": ["read"] }, { "resource": "reports", "actions": ["read"] }]);
    let watcher = admin.member(&setup, &reports, &[&tickets.router]).await;
    let desk = desk_of(&server, &watcher, None).await;
    let join = json!({ "routerId": tickets.router });
    assert_eq!(desk.emit("monitoring:join", &join).await, json!({ "ok": true }));
    let empty = desk.event("monitoring:snapshot").await;
    assert_eq!((&empty["realtime"]["inQueue"], &empty["agentStatus"]["offline"]), (&json!(0), &json!(1)));
    let other = json!({ "routerId": setup.seeded.router });
    assert_eq!(desk.emit("monitoring:join", &other).await["code"], "router_out_of_scope");
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let becomes = async |pointer: &str, value: Value| {
        eventually(&format!("{pointer} is {value}"), || async {
            let snapshot = desk.event("monitoring:snapshot").await;
            (snapshot.pointer(pointer) == Some(&value)).then_some(snapshot)
        })
        .await
    };
    let waiting = becomes("/realtime/inQueue", json!(1)).await;
    assert_eq!(waiting["detailed"]["waiting"][0]["id"], ticket["id"]);
    assert_eq!(waiting["detailed"]["byQueue"][0]["queueId"], json!(queue));
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let reply = format!("/tickets/{}/messages", id(&ticket));
    bia.post(&reply, &json!({ "text": "Olá" })).await.ok(201);
    let assigned = becomes("/realtime/inService", json!(1)).await;
    assert_eq!(assigned["todayTicketStatus"]["waiting"], 0);
    let agents = assigned["detailed"]["byAgent"].as_array().unwrap();
    let agent = agents.iter().find(|agent| agent["userId"] == json!(user)).unwrap();
    assert_eq!((&agent["inService"], &agent["presence"]), (&json!(1), &json!("offline")));
    bia.post(&format!("/tickets/{}/close", id(&ticket)), &json!({})).await.ok(200);
    let closed = becomes("/todayTicketStatus/closedToday", json!(1)).await;
    for figure in
        ["/todayMetrics/avgQueueTimeMs", "/todayMetrics/avgServiceTimeMs", "/realtime/avgFirstResponseMs"]
    {
        assert!(closed.pointer(figure).unwrap().as_i64().is_some_and(|ms| ms >= 0), "{figure}: {closed}");
    }
    assert_eq!(desk.emit("monitoring:leave", &json!({})).await, json!({ "ok": true }));
    // Whoever may read them no more is sent none.
    assert_eq!(desk.emit("monitoring:join", &join).await["ok"], true);
    let me = watcher.get("/auth/me").await.ok(200)["id"].as_str().unwrap().to_owned();
    let group = admin.get(&format!("/users/{me}")).await.ok(200)["groupId"].as_str().unwrap().to_owned();
    let path = format!("/groups/{group}");
    let less = json!({ "permissions": [{ "resource": "helpdesk", "actions": ["read"] }] });
    admin.patch(&path, &less).await.ok(200);
    eventually("the desk may not join", || async {
        (desk.emit("monitoring:join", &join).await["code"] == "permission_denied").then_some(())
    })
    .await;
}

async fn figures_are_those_of_the_routers_within_reach(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    tickets.hand_over(&server).await;
    let reports = json!([{ "resource": "reports", "actions": ["read"] }]);
    let mine = admin.member(&setup, &reports, &[&tickets.router]).await;
    let stranger = admin.member(&setup, &reports, &[&setup.seeded.router]).await;
    let path = "/helpdesk/monitoring";
    for (api, query, expected) in [
        (&admin, String::new(), 1),
        (&mine, String::new(), 1),
        (&mine, format!("?routerId={}", tickets.router), 1),
        (&stranger, String::new(), 0),
    ] {
        let figures = api.get(&format!("{path}{query}")).await.ok(200);
        assert_eq!(figures["realtime"]["inQueue"], expected, "{query}");
        let listed = figures["detailed"]["waiting"].as_array().unwrap().len();
        assert_eq!(listed, expected, "{query}");
    }
    let refused = stranger.get(&format!("{path}?routerId={}", tickets.router)).await;
    refused.refused(403, "router_out_of_scope", "Roteador fora do escopo");
    let desk = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let agent = admin.member(&setup, &desk, &[]).await;
    agent.get(path).await.assert_error(403);
    // A snapshot counts for two seconds.
    tickets.hand_over(&server).await;
    assert_eq!(mine.get(path).await.ok(200)["realtime"]["inQueue"], 1);
    server.advance(Duration::from_secs(2)).await;
    assert_eq!(mine.get(path).await.ok(200)["realtime"]["inQueue"], 2);
}
