//! Turns that take longer than a transaction should be held.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::admin::session::Sessions;
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::conversation::{ConversationEvent, Handover};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::Reach;
use flowsdk_core::session::SentVariables;
use flowsdk_core::stream::lanes::Party;
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::flows::flow_of;
use super::world::{FAILED, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_long_turn_is_committed_as_a_short_one_is,
    a_turn_that_is_too_long_freezes_its_own_session,
    a_long_turn_loses_nothing_that_others_write,
    a_long_turn_is_left_where_others_would_wait_for_it,
    the_events_of_flows_that_are_not_compiled_yet_are_left,
}

/// Weighs each message against `{{long}}` so many times before it is repeated.
fn weighing(times: usize) -> Value {
    let outputs: Vec<Value> = (0..times)
        .map(|n| {
            json!({ "conditions": [{ "source": { "type": "context", "key": "long" }, "comparator": "contains",
                "values": [format!("x{n}")] }], "target": { "end": true } })
        })
        .collect();
    flow_of(&[
        json!({ "id": "weigh", "type": "content", "outputConditions": outputs, "defaultOutput": { "blockId": "say" } }),
        json!({ "id": "say", "type": "content", "contents": [{ "type": "text", "text": { "body": "You said {{input}}" } }],
            "input": {}, "defaultOutput": { "blockId": "weigh" } }),
    ])
}

/// A world whose visitors begin with `weighing`.
async fn world_of(store: SqlStore, times: usize) -> World {
    let world = World::new(store).await;
    world.publish("router1", "weighing", weighing(times)).await;
    world.start_with("router1", "weighing").await;
    world
}

/// The first messages of a visitor, for whom every turn is long.
fn first(world: &World, visitor: &str, texts: &[&str]) -> ConversationEvent {
    let messages = texts.iter().map(|text| IncomingMessage::text(*text, *text)).collect();
    let mut event = world.event(visitor, messages);
    event.context = json!({ "long": "ab".repeat(20_000) }).as_object().cloned();
    ConversationEvent::Incoming(event)
}

async fn a_long_turn_is_committed_as_a_short_one_is(store: SqlStore) {
    let world = world_of(store, 20).await;
    let events = [first(&world, "ana", &["one", "two", "three"]), world.text("bia", "b1", "oi")];
    let reports = world.try_handle(&events).await.expect("handled");
    assert_eq!(bodies(&reports[0]), ["You said one", "You said two", "You said three"]);
    assert_eq!(bodies(&reports[1]), ["You said oi"]);
    assert_eq!(world.say("ana", "m4", "four").await, ["You said four"]);
    // Handled again it is a repetition, and all of it stands in the one open chat of the visitor.
    let again = world.handle(events[0].clone()).await;
    assert!(again.stored.iter().all(|stored| stored.duplicate) && again.outgoing.is_empty());
    assert_eq!(world.transcript_of("ana").await.len(), 8);
    assert_eq!(world.stored("ana").await.expect("a session").session.chat_id, world.open_chat("ana").await);
    assert_eq!(world.transcript_of("bia").await, ["> oi", "< You said oi"]);
}

async fn a_turn_that_is_too_long_freezes_its_own_session(store: SqlStore) {
    let world = world_of(store, 1_000).await;
    let events = [first(&world, "ana", &["one"]), world.text("bia", "b1", "oi")];
    let reports = world.try_handle(&events).await.expect("handled");
    assert!(reports[0].frozen);
    assert_eq!(bodies(&reports[0]), [FAILED], "nothing of the turn is said");
    assert_eq!(bodies(&reports[1]), ["You said oi"]);
    assert!(world.stored("ana").await.expect("a session").frozen);
    assert_eq!(world.transcript_of("ana").await, ["> one", &format!("< {FAILED}")], "the message is stored");
}

async fn a_long_turn_loses_nothing_that_others_write(store: SqlStore) {
    let world = world_of(store, 20).await;
    world.handle(first(&world, "ana", &["one"])).await;
    let sessions =
        Sessions::new(world.store.clone(), world.cx.clone(), Arc::new(NoChangeLog), Handover::Stream);
    let (id, key) = (session("ana"), |n: usize| format!("k{n}"));
    let patches = (0..10).map(|n| {
        let sent = SentVariables::check(json!({ key(n): n }).as_object().expect("an object").clone());
        let (sent, sessions, id) = (sent.expect("good ones"), &sessions, &id);
        async move { sessions.merge_variables(&Author::default(), Reach::ALL, id, &sent).await.map(|_| ()) }
    });
    let turns = async {
        let mut said = Vec::new();
        for n in 0..5 {
            let event = world.text("ana", &format!("m{n}"), &format!("m{n}"));
            let report = loop {
                match world.try_handle(std::slice::from_ref(&event)).await {
                    Ok(mut reports) => break reports.remove(0),
                    Err(error) => assert!(error.is_transient(), "{error:?}"),
                }
            };
            said.extend(bodies(&report));
        }
        said
    };
    let (said, patched) = tokio::join!(turns, join_all(patches));
    assert_eq!(said, (0..5).map(|n| format!("You said m{n}")).collect::<Vec<_>>());
    let stored = world.stored("ana").await.expect("a session").session;
    for (n, patched) in patched.into_iter().enumerate() {
        // One that lost too many races said so.
        assert!(patched.is_err() || stored.variables[&key(n)] == n, "{n}");
    }
}

async fn a_long_turn_is_left_where_others_would_wait_for_it(store: SqlStore) {
    let world = world_of(store, 20).await;
    let events = [first(&world, "ana", &["one"]), world.text("bia", "b1", "oi")];
    let both: Vec<&ConversationEvent> = events.iter().collect();
    let reports = world.conversations.handle_short(&both).await.expect("handled");
    assert!(reports[0].is_none(), "{:?}", reports[0]);
    assert_eq!(reports[1].as_ref().map(bodies), Some(vec!["You said oi".to_owned()]));
    assert_eq!(world.transcript_of("bia").await, ["> oi", "< You said oi"]);
    let alone = world.conversations.handle_short(&both[..1]).await.expect("handled");
    assert!(alone[0].is_none());
    assert!(world.stored("ana").await.is_none(), "nothing of it is stored");
    let report = world.handle(events[0].clone()).await;
    assert_eq!(bodies(&report), ["You said one"]);
    assert!(report.cost > Duration::from_millis(1), "{:?}", report.cost);
    assert_eq!(report.party, Party::of(&world.router));
    assert_eq!(world.transcript_of("ana").await, ["> one", "< You said one"]);
}

async fn the_events_of_flows_that_are_not_compiled_yet_are_left(store: SqlStore) {
    let world = World::new(store).await;
    let conversations = world.new_conversations().waiting_for_flows(Duration::ZERO);
    world.add_router("router2", "c2").await;
    world.publish("router2", "others", weighing(1)).await;
    world.start_with("router2", "others").await;
    world.add_visitor("other-bia").await;
    let before = world.text("other-bia", "b1", "oi");
    conversations.handle(&[&before]).await.expect("handled");

    let events = [world.text("ana", "m1", "oi"), world.text("other-bia", "b2", "oi")];
    let both: Vec<&ConversationEvent> = events.iter().collect();
    let reports = conversations.handle_short(&both).await.expect("handled");
    assert!(reports[0].is_none(), "{:?}", reports[0]);
    assert!(reports[1].as_ref().is_some_and(|report| !bodies(report).is_empty()), "{:?}", reports[1]);
    assert!(world.stored("ana").await.is_none(), "nothing of it is stored");
    let reports = conversations.handle(&both[..1]).await.expect("handled");
    assert_eq!(bodies(&reports[0]).len(), 1);
    let next = world.text("ana", "m2", "Ana");
    let reports = conversations.handle_short(&[&next]).await.expect("handled");
    assert!(reports[0].is_some(), "it is compiled");
}
