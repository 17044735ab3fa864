//! Visitors who enter a chat without a message.

use flowsdk_core::conversation::{ConversationEvent, TurnReport};
use flowsdk_core::event::IncomingEvent;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::flows::{block, flow_of};
use super::resumption::{publish_again, resume_of};
use super::world::{World, bodies};
use crate::support::databases::on_every_database;

on_every_database! {
    a_visitor_who_enters_is_spoken_to_once,
    a_visitor_who_wrote_before_they_entered_is_not_spoken_to_again,
    an_ended_session_begins_again_only_where_nobody_has_written_since,
    many_visitors_enter_in_one_commit,
    a_session_that_froze_when_its_visitor_entered_begins_when_it_is_resumed,
    a_visitor_of_a_router_without_a_flow_enters_for_nothing,
}

/// The visitor enters a chat whose newest message has this number.
fn enters(world: &World, visitor: &str, newest: i64) -> ConversationEvent {
    let event = world.event(visitor, Vec::new());
    ConversationEvent::Incoming(IncomingEvent { opened_after: Some(newest), ..event })
}

async fn a_visitor_who_enters_is_spoken_to_once(store: SqlStore) {
    let world = World::new(store).await;
    let report = world.handle(enters(&world, "ana", 0)).await;
    assert_eq!(bodies(&report), ["Hello "]);
    assert_eq!(report.stored, []);
    assert_eq!(*world.sink.0.lock().expect("a lock"), report.outgoing);
    for newest in [0, 1] {
        assert_eq!(bodies(&world.handle(enters(&world, "ana", newest)).await), [""; 0], "they enter again");
    }
    assert_eq!(world.say("ana", "m1", "olá").await, ["You said olá"], "the first message is the answer");
    assert_eq!(world.transcript_of("ana").await, ["< Hello ", "> olá", "< You said olá"]);
}

async fn a_visitor_who_wrote_before_they_entered_is_not_spoken_to_again(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Hello "]);
    assert_eq!(bodies(&world.handle(enters(&world, "ana", 0)).await), [""; 0]);
    assert_eq!(world.say("ana", "m2", "olá").await, ["You said olá"]);
}

async fn an_ended_session_begins_again_only_where_nobody_has_written_since(store: SqlStore) {
    let world = World::new(store).await;
    world.publish("router1", "once", flow_of(&[block("b", "Once", &json!({ "end": true }))])).await;
    world.start_with("router1", "once").await;
    assert_eq!(bodies(&world.handle(enters(&world, "ana", 0)).await), ["Once"]);
    assert_eq!(world.stored("ana").await, None, "it has ended");
    assert_eq!(world.handle(enters(&world, "ana", 0)).await, TurnReport::default(), "the same event again");
    assert_eq!(bodies(&world.handle(enters(&world, "ana", 1)).await), ["Once"], "they have seen the end");
}

async fn many_visitors_enter_in_one_commit(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.say("bia", "m1", "oi").await, ["Hello "]);
    let events = [enters(&world, "ana", 0), enters(&world, "bia", 0), world.text("caio", "m2", "oi")];
    let reports = world.try_handle(&events).await.expect("handled");
    let said: Vec<_> = reports.iter().map(bodies).collect();
    assert_eq!(said, [vec!["Hello "], vec![], vec!["Hello "]]);
}

async fn a_session_that_froze_when_its_visitor_entered_begins_when_it_is_resumed(store: SqlStore) {
    let world = World::new(store).await;
    // Round and round, until the turn is too long.
    world
        .publish(
            "router1",
            "bad",
            flow_of(&[block("b", "Round", &json!({ "flowId": "bad", "blockId": "b" }))]),
        )
        .await;
    world.start_with("router1", "bad").await;
    assert!(world.handle(enters(&world, "ana", 0)).await.frozen);
    assert!(world.handle(world.text("ana", "m1", "loop?")).await.frozen);
    let good = flow_of(&[block("b", "Good", &json!({ "end": true }))]);
    publish_again(&world, "bad", good).await;
    let report = world.conversations.resume(&resume_of(&world, "ana").await).await.expect("resumed");
    // The message that came meanwhile begins the next session.
    assert_eq!(bodies(&report), ["Good", "Good"]);
    assert_eq!(world.stored("ana").await, None);
}

async fn a_visitor_of_a_router_without_a_flow_enters_for_nothing(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    world.add_visitor("other-ana").await;
    assert_eq!(world.handle(enters(&world, "other-ana", 0)).await, TurnReport::default());
    assert_eq!(world.stored("other-ana").await, None);
}
