//! How many turns a second the engine runs on one core: a conversation of three blocks, over and
//! over. Run it with `cargo run --release -p flowsdk-core --example engine_throughput`.
#![allow(clippy::print_stdout, reason = "the example prints its measurement")]

use std::sync::Arc;
use std::time::Instant;

use flowsdk_core::contact::Contact;
use flowsdk_core::flow::{CompiledFlow, FlowVersion, NoFlows, Scene, Trigger, TurnEnd, run};
use flowsdk_core::id::{ChatId, ContactId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{Router, StaticVariables};
use flowsdk_core::session::{Channel, Session, SessionId};
use flowsdk_core::time::Timestamp;
use serde_json::json;

const CONVERSATIONS: u32 = 300_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let now = Timestamp::from_millis(1_795_085_820_050);
    let router_id = RouterId::parse("crouter0000000000000000001")?;
    let flow = CompiledFlow::compile(&FlowVersion {
        id: FlowVersionId::parse("cversion000000000000000001")?,
        flow_id: FlowId::parse("cflow000000000000000000001")?,
        router_id: router_id.clone(),
        flow_name: "Demo".into(),
        number: 1,
        definition: definition().into(),
        created_at: now,
    })
    .map_err(|problems| format!("{problems:?}"))?;
    let router = Router::new(router_id.clone(), "Demo", now);
    let statics = StaticVariables::default();
    let scene = Scene { flow: Arc::clone(&flow), router: &router, statics: &statics, now, flows: &NoFlows };
    let contact = Contact {
        id: ContactId::parse("ccontact00000000000000001")?,
        phone_number: "wc-chan-visitor".into(),
        name: "Ana".into(),
        name_locked: false,
        origin: Some(Channel::Webchat),
        variables: serde_json::Map::new(),
        created_at: now,
    };
    let session = Session::begin(
        SessionId::parse("wc-chan-visitor")?,
        router_id,
        contact.id.clone(),
        ChatId::parse("cchat000000000000000000001")?,
        now,
    );
    let messages = ["oi", "Vendas", "12"].map(|text| IncomingMessage::text("m", text));

    let began = Instant::now();
    let mut turns = 0u32;
    let mut contact = Some(contact);
    for _ in 0..CONVERSATIONS {
        let mut session = session.clone();
        for message in &messages {
            let person = contact.take().ok_or("the contact is always put back")?;
            let outcome = run(&scene, session, person, Trigger::Message(message));
            if let TurnEnd::Frozen(error) = outcome.end {
                return Err(error.message.into());
            }
            session = outcome.session;
            contact = Some(outcome.contact);
            turns += 1;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{turns} turns in {seconds:.2} s: {:.0} turns/s", f64::from(turns) / seconds);
    Ok(())
}

fn definition() -> serde_json::Value {
    json!({
        "schemaVersion": 1, "startBlockId": "welcome",
        "blocks": [
            { "id": "welcome", "type": "content", "title": "Welcome",
              "onEnter": [{ "type": "setVariable", "key": "attempts", "value": "0" }],
              "contents": [
                { "type": "text", "text": { "body": "Hi {{contact.name}}, what do you need?" } },
                { "type": "interactive", "interactive": { "type": "button", "body": { "text": "Pick one" },
                  "action": { "buttons": [
                    { "type": "reply", "reply": { "id": "sales", "title": "Vendas" } },
                    { "type": "reply", "reply": { "id": "support", "title": "Suporte" } }] } } }],
              "input": { "variable": "choice", "validation":
                { "kind": "options", "options": ["vendas", "suporte"], "retryText": "Please pick one." } },
              "outputConditions": [
                { "id": "c1", "target": { "blockId": "sales" }, "conditions":
                  [{ "source": { "type": "input" }, "comparator": "equals", "values": ["vendas"] }] }],
              "defaultOutput": { "blockId": "bye" } },
            { "id": "sales", "type": "content",
              "contents": [{ "type": "text", "text": { "body": "How many seats, {{contact.name}}?" } }],
              "input": { "variable": "seats", "validation": { "kind": "number", "min": 1 } },
              "outputConditions": [
                { "id": "c2", "target": { "blockId": "bye" }, "conditions":
                  [{ "source": { "type": "context", "key": "seats" }, "comparator": "greaterThan", "values": ["10"] }] }],
              "defaultOutput": { "blockId": "bye" } },
            { "id": "bye", "type": "content",
              "contents": [{ "type": "text", "text": { "body": "{{seats}} seats of {{choice}}. Bye!" } }],
              "defaultOutput": { "end": true } }
        ]
    })
}
