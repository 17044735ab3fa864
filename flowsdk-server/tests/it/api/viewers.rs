//! Who looks at a ticket, and who types in it (spec B 4.8).

use serde_json::{Value, json};

use super::desk::desk_of;
use super::tickets::Tickets;
use crate::harness::{Api, Client, Setup, eventually, everywhere};

everywhere!(agents_see_who_else_looks_at_a_ticket, a_visitor_sees_their_agent_type);

/// Waits until a desk is told that these others look at the ticket, and whether each types.
async fn viewers_are(desk: &Client, ticket: &Value, expected: &[(&str, bool)]) {
    loop {
        let event = desk.event("ticket:viewing").await;
        assert_eq!((&event["ticketId"], event["seq"].is_i64()), (ticket, true), "{event}");
        let viewer = |one: &Value| {
            assert!(!one["name"].as_str().unwrap().is_empty(), "{one}");
            (one["userId"].as_str().unwrap().to_owned(), one["isTyping"].as_bool().unwrap())
        };
        let viewers: Vec<(String, bool)> = event["viewers"].as_array().unwrap().iter().map(viewer).collect();
        if viewers.iter().map(|(user, is_typing)| (user.as_str(), *is_typing)).eq(expected.iter().copied()) {
            return;
        }
    }
}

async fn agents_see_who_else_looks_at_a_ticket(setup: Setup) {
    let server = setup.start().await;
    let other = if setup.is_distributed() { Some(setup.start().await) } else { None };
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let ((bia, bia_id), (ivo, ivo_id)) =
        (tickets.agent(&setup, &[&queue]).await, tickets.agent(&setup, &[&queue]).await);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let ticket = &ticket["id"];
    let look = json!({ "ticketId": ticket });
    let desk = desk_of(&server, &bia, None).await;
    assert_eq!(desk.emit("ticket:viewing", &look).await, json!({ "ok": true }));
    let second = desk_of(other.as_ref().unwrap_or(&server), &ivo, None).await;
    assert_eq!(second.emit("ticket:viewing", &look).await["ok"], true);
    viewers_are(&desk, ticket, &[(&ivo_id, false)]).await;
    viewers_are(&second, ticket, &[(&bia_id, false)]).await;
    // It is said again and again, as somebody does who types.
    let types = async || {
        eventually("the desk hears of it", || async {
            assert_eq!(second.emit("ticket:typing", &look).await, json!({ "ok": true }));
            desk.names().contains(&"ticket:viewing".to_owned()).then_some(())
        })
        .await;
        viewers_are(&desk, ticket, &[(&ivo_id, true)]).await;
    };
    types().await;
    assert_eq!(second.emit("ticket:viewing", &json!({})).await, json!({ "ok": true }));
    viewers_are(&desk, ticket, &[]).await;
    // Whoever types looks at it, and whoever leaves does not.
    types().await;
    drop(second);
    viewers_are(&desk, ticket, &[]).await;
}

async fn a_visitor_sees_their_agent_type(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup" })).await;
    let ((bia, _), (ivo, _)) =
        (tickets.agent(&setup, &[&queue]).await, tickets.agent(&setup, &[&queue]).await);
    let (desk, other) = (desk_of(&server, &bia, None).await, desk_of(&server, &ivo, None).await);
    let (visitor, ticket) = tickets.hand_over(&server).await;
    assert_eq!(desk.emit("agent:pickup", &json!({})).await["ticket"]["id"], ticket["id"]);
    let look = json!({ "ticketId": ticket["id"] });
    // Of somebody who does not have the ticket the visitor hears nothing.
    assert_eq!(other.emit("ticket:typing", &look).await["ok"], true);
    assert_eq!(desk.emit("ticket:typing", &look).await["ok"], true);
    assert_eq!(visitor.typing().await, json!({ "kind": "human", "ms": 6_000 }));
    let reply = json!({ "ticketId": ticket["id"], "text": "Olá" });
    assert_eq!(desk.emit("agent:reply", &reply).await["ok"], true);
    visitor.gather(1).await;
    assert!(!visitor.names().contains(&"typing".to_owned()), "{:?}", visitor.names());
}
