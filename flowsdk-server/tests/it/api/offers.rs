//! Queues that offer their tickets: agents accept or decline them.

use std::time::Duration;

use serde_json::json;

use super::building::{id, router};
use super::desk::{desk_of, online};
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(over_the_socket_and_over_http);
everywhere!(in process: an_offer_that_nobody_answers, who_may_answer);

async fn over_the_socket_and_over_http(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "acceptWithinSeconds": 600 })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    online(&desk).await;
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    let offered = desk.event("ticket:offered").await;
    let told = &offered["ticket"];
    assert_eq!((&told["id"], &told["status"]), (&ticket["id"], &json!("waiting")));
    assert_eq!((&told["offeredUserId"], &told["assignedUserId"]), (&json!(user), &json!(null)));
    assert!(told["offerEndsAt"].is_string(), "{told}");
    let answer = json!({ "ticketId": ticket["id"] });
    let accepted = desk.emit("agent:accept", &answer).await;
    assert_eq!((&accepted["ok"], &accepted["ticket"]["status"]), (&json!(true), &json!("assigned")));
    assert_eq!(accepted["ticket"]["offeredUserId"], json!(null));
    assert_eq!(desk.event("ticket:assigned").await["ticket"]["id"], ticket["id"]);
    assert_eq!(desk.emit("agent:accept", &answer).await["ok"], true, "accepted already");
    assert_eq!(desk.emit("agent:decline", &answer).await["code"], "ticket_not_offered");
    let reply = json!({ "ticketId": ticket["id"], "text": "Olá" });
    assert_eq!(desk.emit("agent:reply", &reply).await["ok"], true);
    assert_eq!(visitor.texts(1).await, ["Olá"]);

    let (_other, second) = tickets.hand_over(&server).await;
    let second = id(&second);
    assert_eq!(desk.event("ticket:offered").await["ticket"]["id"], json!(second));
    let declined = bia.post(&format!("/tickets/{second}/decline"), &json!({})).await.ok(200);
    assert_eq!((&declined["status"], &declined["offeredUserId"]), (&json!("waiting"), &json!(null)));
    assert_eq!(desk.event("ticket:offer-ended").await["ticket"]["id"], json!(second));
    bia.post(&format!("/tickets/{second}/accept"), &json!({})).await.refused(
        409,
        "ticket_not_offered",
        "O ticket não está oferecido a você",
    );
    // Whoever wants it after all picks it up.
    assert_eq!(id(&bia.post("/tickets/pickup", &json!({})).await.ok(200)["ticket"]), second);
}

async fn an_offer_that_nobody_answers(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "acceptWithinSeconds": 10 })).await;
    let (bia, user) = tickets.agent(&setup, &[&queue]).await;
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let path = format!("/tickets/{}", id(&ticket));
    // It waits for another agent; a minute later nobody else is there, and they are asked again.
    for expected in [json!(user), json!(null), json!(user)] {
        let mut seconds = 0;
        while admin.get(&path).await.ok(200)["offeredUserId"] != expected {
            assert!(seconds < 90, "never offered to {expected}");
            seconds += 1;
            bia.post("/agents/me/heartbeat", &json!({})).await.ok(200);
            server.advance(Duration::from_secs(1)).await;
        }
    }
    bia.post(&format!("{path}/accept"), &json!({})).await.ok(200);
}

async fn who_may_answer(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({ "acceptWithinSeconds": 600 })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    bia.put("/agents/me/presence", &json!({ "status": "online" })).await.ok(200);
    let (_visitor, ticket) = tickets.hand_over(&server).await;
    let desk = json!([{ "resource": "helpdesk", "actions": ["read", "write"] }]);
    let other = admin.member(&setup, &desk, &[&router(&admin, "Outra").await]).await;
    for answer in ["accept", "decline"] {
        let path = format!("/tickets/{}/{answer}", id(&ticket));
        other.post(&path, &json!({})).await.refused(404, "not_found", "Ticket não encontrado");
        let not_theirs = admin.post(&path, &json!({})).await;
        not_theirs.refused(409, "ticket_not_offered", "O ticket não está oferecido a você");
        let unknown = bia.post(&format!("/tickets/cunknown/{answer}"), &json!({})).await;
        unknown.refused(404, "not_found", "Ticket não encontrado");
    }
    // Who is given it by somebody else needs no offer.
    let path = format!("/tickets/{}", id(&ticket));
    bia.post(&format!("{path}/assign"), &json!({ "userId": bia.get("/auth/me").await.ok(200)["id"] }))
        .await
        .ok(200);
    bia.post(&format!("{path}/accept"), &json!({})).await.ok(200);
    bia.post(&format!("{path}/close"), &json!({})).await.ok(200);
    bia.post(&format!("{path}/accept"), &json!({})).await.refused(
        409,
        "ticket_closed",
        "O ticket já está fechado",
    );
}
