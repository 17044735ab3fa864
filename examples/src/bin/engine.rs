//! The flow engine as a plain library: no database, no network, no clock of its own.
//!
//! `cargo run -p flowsdk-examples --bin engine` plays a flow against the lines you type.

use std::io::{self, BufRead as _};
use std::sync::Arc;

use flowsdk_core::contact::Contact;
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{CompiledFlow, Effect, FlowVersion, NoFlows, Scene, Trigger, TurnEnd, run};
use flowsdk_core::id::{ChatId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{Router, StaticVariables};
use flowsdk_core::session::{Channel, Position, Session, SessionId};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cx = OpContext::system();
    let router = Router::new(RouterId::generate(cx.ids()), "Example", cx.now());
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: FlowId::generate(cx.ids()),
        router_id: router.id.clone(),
        flow_name: "Example".to_owned(),
        number: 1,
        definition: json!({
            "schemaVersion": 1,
            "startBlockId": "ask",
            "blocks": [
                { "id": "ask", "type": "content",
                  "contents": [{ "type": "text", "text": { "body": "How old are you?" } }],
                  "input": { "variable": "age", "validation":
                    { "kind": "number", "integer": true, "min": 0, "max": 150, "retryText": "A number, please." } },
                  "outputConditions": [{ "id": "adult",
                    "conditions": [{ "source": { "type": "context", "key": "age" }, "comparator": "greaterOrEqual", "values": ["18"] }],
                    "target": { "blockId": "adult" } }],
                  "defaultOutput": { "blockId": "minor" } },
                { "id": "adult", "type": "content",
                  "contents": [{ "type": "text", "text": { "body": "{{age}}: welcome." } }],
                  "defaultOutput": { "end": true } },
                { "id": "minor", "type": "content",
                  "contents": [{ "type": "text", "text": { "body": "{{age}}: not yet." } }],
                  "defaultOutput": { "end": true } }
            ]
        }),
        created_at: cx.now(),
    };
    let flow = CompiledFlow::compile(&version).map_err(|problems| format!("{problems:#?}"))?;

    let mut contact = Contact::create(&cx, "wc-example-you".to_owned(), "You".to_owned(), Channel::Webchat);
    let chat = ChatId::generate(cx.ids());
    let mut session = Session::begin(
        SessionId::parse("wc-example-you")?,
        router.id.clone(),
        contact.id.clone(),
        chat,
        cx.now(),
    );
    session.position = Some(Position {
        flow_id: version.flow_id.clone(),
        version_id: version.id.clone(),
        block_id: None,
        waiting: None,
    });

    println!("(say something)");
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let message = IncomingMessage::text(format!("line-{number}"), line?);
        let started = session.position.as_ref().is_some_and(|position| position.block_id.is_some());
        let trigger = if started { Trigger::Message(&message) } else { Trigger::Start(&message) };
        let scene = Scene {
            flow: Arc::clone(&flow),
            router: &router,
            statics: &StaticVariables::default(),
            now: cx.now(),
            flows: &NoFlows,
        };
        let outcome = run(&scene, session, contact, trigger);
        for effect in outcome.effects {
            if let Effect::Send(content) = effect {
                println!("> {}", content.texts().join(" | "));
            }
        }
        (session, contact) = (outcome.session, outcome.contact);
        match outcome.end {
            TurnEnd::Waiting => {}
            // This flow neither hands over nor asks the outside.
            TurnEnd::HandedOver(_) | TurnEnd::Effect(_) => return Ok(()),
            TurnEnd::Ended => return Ok(()),
            TurnEnd::Frozen(error) => return Err(error.message.into()),
        }
    }
    Ok(())
}
