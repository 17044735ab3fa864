//! Contexts, contacts and static variables.

use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{HasRouters as _, StaticVariable, VariableOwner};
use flowsdk_core::session::HasTraces as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::flows::{block, flow_of};
use super::world::{KEY, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_context_seeds_a_new_session,
    a_flow_changes_its_contact,
    static_variables_are_read_and_secrets_decrypted,
    any_text_goes_through_a_turn,
}

async fn a_context_seeds_a_new_session(store: SqlStore) {
    let world = World::new(store).await;
    let send = |id: &str, plan: &str| {
        let mut event = world.event("ana", vec![IncomingMessage::text(id, "oi")]);
        event.context = Some(serde_json::Map::from_iter([("plan".to_owned(), json!(plan))]));
        world.handle(ConversationEvent::Incoming(event))
    };
    assert_eq!(bodies(&send("m1", "gold").await), ["Hello gold"]);
    send("m2", "silver").await;
    let session = world.stored("ana").await.expect("a session").session;
    assert_eq!(session.variables["plan"], "gold", "a session that runs keeps its own");
}

async fn a_flow_changes_its_contact(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    assert_eq!(world.say("ana", "m2", "name").await, ["Noted, Ana"]);
    let contact = world.contact("ana").await;
    assert_eq!((contact.name.as_str(), contact.name_locked), ("Ana", true));
    assert_eq!(contact.variables.len(), 1);
    assert_eq!(world.contact("bia").await.name, "Flow Chat");
}

async fn static_variables_are_read_and_secrets_decrypted(store: SqlStore) {
    let world = World::new(store).await;
    let key = MasterKey::new(KEY).expect("a key");
    let of_router = VariableOwner::Router(world.router.clone());
    let flow = |id: &str| VariableOwner::Flow(id.parse().expect("an id"));
    let text = "{{router.brand}}/{{router.token}}/{{router.broken}}/{{flow.promo}}";
    let asks = json!({ "id": "ask", "type": "content", "input": {},
        "contents": [{ "type": "text", "text": { "body": text } }], "defaultOutput": { "flowId": "next" } });
    world.publish("router1", "next", flow_of(&[block("b", text, &json!({ "end": true }))])).await;
    let mut uses = flow_of(&[asks]);
    uses["settings"] = json!({ "trace": true });
    world.publish("router1", "uses", uses).await;
    let variables = [
        (&of_router, "brand", Some("Ação"), None),
        (&of_router, "token", None, Some(key.encrypt("s3cr3t 👋"))),
        (&of_router, "broken", None, Some(Encrypted::from_stored("00:11".to_owned()))),
        (&flow("uses"), "promo", Some("X1"), None),
        (&flow("next"), "promo", Some("X2"), None),
        (&flow("main"), "promo", Some("X3"), None),
    ];
    let mut tx = world.store.begin().await.expect("begin");
    for (n, (owner, key, value, encrypted)) in variables.into_iter().enumerate() {
        let variable = StaticVariable {
            owner: owner.clone(),
            key: key.to_owned(),
            value: value.map(str::to_owned),
            encrypted,
        };
        tx.routers().put_static_variable(&format!("v{n}"), &variable, world.cx.now()).await.expect("put");
    }
    tx.commit().await.expect("commit");
    world.start_with("router1", "uses").await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Ação/s3cr3t 👋//X1"]);
    let mut tx = world.store.read().await.expect("read");
    let traces = tx.traces().trace(&session("ana"), None, 10).await.expect("a page");
    let steps = traces[0].steps.to_string();
    assert!(steps.contains(r#""text":"•••/•••//X1""#) && !steps.contains("s3cr3t"), "{steps}");
    drop(tx);
    assert_eq!(world.say("ana", "m2", "oi").await.len(), 1);
}

async fn any_text_goes_through_a_turn(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m0", "oi").await;
    let long = "á".repeat(4_096);
    for (n, text) in
        ["'; --", "{{contact.name}}", "\\u0000 \\", "👩🏽‍🚀\u{202e}\r\n", &long].into_iter().enumerate()
    {
        assert_eq!(world.say("ana", &format!("m{}", n + 1), text).await, [format!("You said {text}")]);
    }
    let report = world.handle(world.text("ana", "nul\0", "a\0b")).await;
    assert_eq!((report.stored.len(), report.outgoing.len()), (1, 1));
    let again = world.handle(world.text("ana", "nul\0", "a\0b")).await;
    assert_eq!((again.stored[0].duplicate, again.outgoing.len()), (true, 0));
}
