//! Redirects and hand-backs are before every message that comes after them (rulings S21).

use std::sync::Arc;

use flowsdk_core::admin::session::{RedirectTo, Sessions};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::conversation::{ConversationEvent, Handover, publish_ahead};
use flowsdk_core::event::{ExternalJump, FlowEvent};
use flowsdk_core::router::Reach;
use flowsdk_core::session::{HasSessions as _, MAX_AHEAD};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::flows::{block, flow_of};
use super::resumption::{publish_again, resume_of};
use super::world::{FAILED, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_message_comes_after_the_redirect_that_was_answered,
    a_redirect_that_stops_the_session_keeps_the_message_behind_it,
    a_frozen_session_keeps_redirects_before_the_messages_behind_them,
    a_session_that_begins_anew_is_not_led,
    so_many_events_stand_ahead,
}

/// Asks the API to lead a visitor to a block of `main`; returns the event that it published.
async fn redirect(world: &World, visitor: &str, block: &str, execute_on_entry: bool) -> ConversationEvent {
    let sessions =
        Sessions::new(world.store.clone(), world.cx.clone(), Arc::new(NoChangeLog), Handover::Stream);
    let to = RedirectTo {
        flow_id: "main".parse().expect("an id"),
        block_id: block.parse().expect("an id"),
        execute_on_entry,
    };
    sessions.redirect(&Author::default(), Reach::ALL, &session(visitor), to).await.expect("redirected");
    let mut published: Vec<Value> = world.published(TopicName::Flow).await;
    published.retain(|event| event["kind"] == "externalJump");
    let event: FlowEvent = serde_json::from_value(published.pop().expect("published")).expect("an event");
    ConversationEvent::Flow(event)
}

/// The event of the stream is as late as can be, and then comes twice.
async fn a_message_comes_after_the_redirect_that_was_answered(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Hello "]);
    let mut late = Vec::new();
    for round in 0..4 {
        let speaks = round % 2 == 0;
        late.push(redirect(&world, "ana", "name", speaks).await);
        let told = world.say("ana", &format!("r{round}"), "x").await;
        // Without speaking it waits for the message, which enters the block.
        let expected = if speaks { vec!["Noted, Ana", "You said x"] } else { vec!["Noted, Ana"] };
        assert_eq!(told, expected, "{round}");
    }
    // Two redirects at once, in their order.
    late.push(redirect(&world, "ana", "mail", true).await);
    late.push(redirect(&world, "ana", "name", true).await);
    let report = world.handle(late[5].clone()).await;
    assert_eq!(bodies(&report), ["Kept", "Noted, Ana"], "the event of one brings both");
    assert_eq!(world.say("ana", "m3", "y").await, ["You said y"]);
    for event in late.iter().chain(&late) {
        assert_eq!(bodies(&world.handle(event.clone()).await), [""; 0], "each is followed once");
    }
    assert_eq!(world.stored("ana").await.expect("a session").ahead, []);
    let transcript = world.transcript_of("ana").await;
    let expected = ["> oi", "< Hello ", "< Noted, Ana", "> x", "< You said x", "> x", "< Noted, Ana"];
    assert_eq!(transcript[..expected.len()], expected, "the redirect speaks before the message");
}

/// `detour` leads back to `loop`, which leads to it: whoever goes there freezes.
async fn a_redirect_that_stops_the_session_keeps_the_message_behind_it(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let late = redirect(&world, "ana", "loop", true).await;
    let behind = redirect(&world, "ana", "mail", false).await;
    assert_eq!(world.say("ana", "m2", "x").await, [FAILED]);
    let resume = resume_of(&world, "ana").await;
    for event in [&late, &behind] {
        world.handle(event.clone()).await;
    }
    let right = flow_of(&[block("back", "Right", &json!({ "flowId": "main", "blockId": "name" }))]);
    publish_again(&world, "detour", right).await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report), ["Round", "Right", "Noted, Ana", "Kept"]);
    assert_eq!(world.stored("ana").await.expect("a session").ahead, []);
    assert_eq!(world.say("ana", "m3", "y").await, ["You said y"]);
}

async fn a_frozen_session_keeps_redirects_before_the_messages_behind_them(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    world.say("ana", "m2", "loop").await;
    let resume = resume_of(&world, "ana").await;
    world.say("ana", "m3", "before").await;
    let late = redirect(&world, "ana", "name", true).await;
    world.say("ana", "m4", "after").await;
    world.handle(late).await;
    let right = flow_of(&[block("back", "Right", &json!({ "flowId": "main", "blockId": "echo" }))]);
    publish_again(&world, "detour", right).await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    let expected = ["Round", "Right", "You said loop", "You said before", "Noted, Ana", "You said after"];
    assert_eq!(bodies(&report), expected);
}

async fn a_session_that_begins_anew_is_not_led(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let _late = redirect(&world, "ana", "bye", true).await;
    // The redirect ends the session; the message begins another one, which nothing leads.
    assert_eq!(world.say("ana", "m2", "x").await, ["Bye", "Hello "]);
    assert_eq!(world.stored("ana").await.expect("a session").ahead, []);
}

async fn so_many_events_stand_ahead(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let jump = |n: u32, visitor: &str| {
        FlowEvent::ExternalJump(ExternalJump {
            session_id: session(visitor),
            flow_id: "main".parse().expect("an id"),
            block_id: "mail".parse().expect("an id"),
            execute_on_entry: false,
            redirect_id: Some(format!("r{n}")),
            ahead: false,
        })
    };
    for n in 0..=MAX_AHEAD {
        let mut tx = world.store.begin().await.expect("begin");
        let published = publish_ahead(&mut tx, jump(n, "ana")).await;
        assert_eq!(published.is_ok(), n < MAX_AHEAD, "{n}: {published:?}");
        if published.is_ok() {
            tx.commit().await.expect("commit");
        }
    }
    let mut tx = world.store.begin().await.expect("begin");
    assert!(!tx.sessions().put_ahead(&jump(0, "nobody")).await.expect("no session"));
    drop(tx);
    assert_eq!(world.stored("ana").await.expect("a session").ahead.len(), MAX_AHEAD as usize);
    assert_eq!(world.say("ana", "m2", "x").await, ["Kept"]);
    assert_eq!(world.stored("ana").await.expect("a session").ahead, []);
    // More than the session remembers of redirects: their events come late, and none is followed again.
    let published = world.published(TopicName::Flow).await;
    assert_eq!(published.len(), MAX_AHEAD as usize);
    for event in published {
        let event = ConversationEvent::Flow(serde_json::from_value(event).expect("an event"));
        assert_eq!(bodies(&world.handle(event).await), [""; 0]);
    }
    assert_eq!(world.say("ana", "m3", "y").await, ["You said y"]);
}
