//! Ends, waits that run out, and sessions that freeze.

use std::time::Duration;

use flowsdk_core::chat::Chat;
use flowsdk_core::store::{ConversationTx as _, Store as _};
use flowsdk_store::sql::SqlStore;

use super::world::{MINUTE, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    after_an_end_the_next_message_begins_anew,
    a_wait_that_runs_out_is_rung_for_once,
    an_answer_prolongs_the_wait,
    a_loop_freezes_its_session,
    a_session_that_failed_before_it_began_keeps_what_comes,
}

async fn after_an_end_the_next_message_begins_anew(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let first = world.stored("ana").await.expect("a session").session;
    assert_eq!(world.say("ana", "m2", "bye").await, ["Bye"]);
    assert_eq!(world.stored("ana").await, None);
    assert_eq!(world.say("ana", "m3", "oi").await, ["Hello "]);
    let second = world.stored("ana").await.expect("a session").session;
    // The flow closed the first chat.
    assert_ne!(second.chat_id, first.chat_id);
    assert_eq!(world.transcript(&first.chat_id).await, ["> oi", "< Hello ", "> bye", "< Bye"]);
    assert_eq!(world.transcript(&second.chat_id).await, ["> oi", "< Hello "]);
    let mut tx = world.store.begin().await.expect("begin");
    let new = Chat::open(&world.cx, second.contact_id, second.router_id);
    let open = tx.chats().open_or_get_many(&[new]).await.expect("open");
    assert_eq!(open[0].id, second.chat_id);
}

async fn a_wait_that_runs_out_is_rung_for_once(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    world.clock.advance(Duration::from_secs(10));
    world.say("bia", "b1", "oi").await;
    assert_eq!(world.wait(MINUTE - Duration::from_millis(10_001)).await, [""; 0]);
    assert_eq!(world.wait(Duration::from_millis(1)).await, ["Too late"]);
    assert_eq!(world.wait(Duration::ZERO).await, [""; 0]);
    assert!(world.stored("ana").await.is_none() && world.stored("bia").await.is_some());
    assert_eq!(world.wait(Duration::from_secs(10)).await, ["Too late"]);
    assert_eq!(world.say("ana", "m2", "oi").await, ["Hello "]);
}

async fn an_answer_prolongs_the_wait(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    for n in 0..3 {
        world.clock.advance(MINUTE - Duration::from_millis(1));
        assert_eq!(world.say("ana", &format!("a{n}"), "a").await, ["You said a"]);
    }
    // It is rung at the old moment, in vain, and then looked at again at the new one.
    assert_eq!(world.wait(MINUTE - Duration::from_millis(1)).await, [""; 0]);
    assert_eq!(world.wait(Duration::from_millis(1)).await, ["Too late"]);
}

async fn a_loop_freezes_its_session(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    world.handle(world.text("ana", "m2", "loop")).await;
    let stored = world.stored("ana").await.expect("a session");
    assert!(stored.frozen);
    for (duplicate, id) in [(false, "m3"), (false, "m4"), (true, "m3"), (true, "m2")] {
        let report = world.handle(world.text("ana", id, "hey")).await;
        assert_eq!((bodies(&report).len(), report.stored[0].duplicate), (0, duplicate), "{id}");
    }
    assert_eq!(world.wait(MINUTE * 10).await, [""; 0], "it is not rung for");
    assert_eq!(world.stored("ana").await, Some(stored));
    let transcript = world.transcript_of("ana").await;
    assert_eq!(transcript.iter().filter(|line| *line == "> hey").count(), 2);
    // Others go on.
    assert_eq!(world.say("bia", "b1", "oi").await, ["Hello "]);
}

async fn a_session_that_failed_before_it_began_keeps_what_comes(store: SqlStore) {
    let world = World::new(store).await;
    let entry = serde_json::json!({ "text": "a NUL: \0" });
    for _ in 0..2 {
        let frozen = world.conversations.freeze(session("ana"), entry.clone(), "poison_entry", "\0 of it");
        frozen.await.expect("frozen");
    }
    let report = world.handle(world.text("ana", "m1", "oi")).await;
    assert_eq!((report.stored.len(), report.outgoing.len()), (1, 0), "kept and not answered");
    assert_eq!(world.stored("ana").await, None);
    assert_eq!(world.say("bia", "b1", "oi").await, ["Hello "]);
}
