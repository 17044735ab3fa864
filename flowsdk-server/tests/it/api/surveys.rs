//! Surveys after a ticket, from outside.

use std::time::Duration;

use serde_json::json;

use super::building::id;
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(a_visitor_is_asked_and_answers);

async fn a_visitor_is_asked_and_answers(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let survey = json!({ "question": "1 a 5?", "commentQuestion": "Por quê?", "thanks": "Obrigado!" });
    let queue = tickets.queue(&json!({ "distributionStrategy": "manual_pickup", "survey": survey })).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    bia.post("/tickets/pickup", &json!({})).await.ok(200);
    let path = format!("/tickets/{}", id(&ticket));
    let closed = bia.post(&format!("{path}/close"), &json!({ "reason": "pago" })).await.ok(200);
    assert_eq!((&closed["status"], &closed["survey"]["status"]), (&json!("closed"), &json!("asked")));
    assert_eq!(visitor.texts(1).await, ["1 a 5?"]);
    visitor.say("oi?").await;
    assert_eq!(visitor.texts(1).await, ["1 a 5?"], "once more");
    visitor.say("4").await;
    assert_eq!(visitor.texts(1).await, ["Por quê?"]);
    visitor.say("Demorou").await;
    assert_eq!(visitor.texts(2).await, ["Obrigado!", "Fim: pago"], "the flow goes on afterwards");
    let survey = bia.get(&path).await.ok(200)["survey"].clone();
    assert_eq!(
        (&survey["status"], &survey["score"], &survey["comment"]),
        (&json!("answered"), &json!(4), &json!("Demorou"))
    );
    server.advance(Duration::from_secs(1)).await;
    let report = format!("/helpdesk/reports/tickets?routerId={}&groupBy=queue", tickets.router);
    let total = admin.get(&report).await.ok(200)["total"].clone();
    assert_eq!(total["satisfaction"], json!({ "asked": 1, "answered": 1, "average": 4.0 }));
}
