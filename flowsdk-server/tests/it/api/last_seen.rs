//! Agents who answer what they have seen.

use serde_json::{Value, json};

use super::building::id;
use super::desk::{desk_of, online};
use super::tickets::Tickets;
use crate::harness::{Api, Setup, everywhere};

everywhere!(an_answer_says_what_its_agent_has_seen);

async fn an_answer_says_what_its_agent_has_seen(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let tickets = Tickets::new(&admin).await;
    let queue = tickets.queue(&json!({})).await;
    let (bia, _) = tickets.agent(&setup, &[&queue]).await;
    let desk = desk_of(&server, &bia, None).await;
    online(&desk).await;
    let (mut visitor, ticket) = tickets.hand_over(&server).await;
    desk.event("ticket:assigned").await;
    let hears = async |words: &str| {
        visitor.say(words).await;
        let heard = desk.event("ticket:message").await;
        heard["messages"][0]["internalId"].clone()
    };
    let (first, second) = (hears("a segunda via").await, hears("de maio").await);
    let path = format!("/tickets/{}/messages", id(&ticket));
    let reply = |seen: &Value| json!({ "text": "Olá", "lastSeenMessageId": seen });
    let command = |seen: &Value| {
        let mut command = reply(seen);
        command["ticketId"] = ticket["id"].clone();
        command
    };
    for (seen, status, code) in
        [(&first, 409, "messages_unseen"), (&json!("cnothing"), 422, "message_unknown")]
    {
        let refused = desk.emit("agent:reply", &command(seen)).await;
        assert_eq!((&refused["ok"], &refused["code"]), (&json!(false), &json!(code)), "{refused}");
        let answer = bia.post(&path, &reply(seen)).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{answer:?}");
    }
    for flawed in [json!(7), json!("!"), json!("")] {
        assert_eq!(desk.emit("agent:reply", &command(&flawed)).await["code"], "invalid_payload", "{flawed}");
        bia.post(&path, &reply(&flawed)).await.assert_error(400);
    }
    assert_eq!(desk.emit("agent:reply", &command(&second)).await["ok"], true);
    bia.post(&path, &reply(&second)).await.ok(201);
    // A desk need not say it.
    assert_eq!(desk.emit("agent:reply", &command(&Value::Null)).await["ok"], true);
    assert_eq!(visitor.texts(3).await, ["Olá", "Olá", "Olá"]);
}
