//! Ends, waits that run out, and sessions that freeze.

use std::time::Duration;

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::event::{Notice, NoticeKind};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::flows::{block, flow_of};
use super::world::{MINUTE, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    after_an_end_the_next_message_begins_anew,
    sockets_are_told_of_an_end,
    after_an_end_the_next_message_of_the_same_event_does_so_too,
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

async fn sockets_are_told_of_an_end(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.handle(world.text("ana", "m1", "oi")).await.notices, [], "a session that begins");
    let end = world.handle(world.text("ana", "m2", "bye")).await;
    let notice = Notice {
        session_id: session("ana"),
        timestamp: world.cx.now(),
        kind: NoticeKind::Session { mode: None },
    };
    assert_eq!(end.notices, std::slice::from_ref(&notice));
    assert_eq!(world.sink.told(), [notice]);
    // Where the rest of the event begins another session, it has not ended.
    let messages = [
        IncomingMessage::text("m3", "oi"),
        IncomingMessage::text("m4", "bye"),
        IncomingMessage::text("m5", "oi"),
    ];
    let report = world.handle(ConversationEvent::Incoming(world.event("ana", messages.to_vec()))).await;
    assert_eq!(bodies(&report), ["Hello ", "Bye", "Hello "]);
    assert_eq!(report.notices, []);
}

async fn after_an_end_the_next_message_of_the_same_event_does_so_too(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let first = world.stored("ana").await.expect("a session").session;
    let messages = || ["bye", "again", "bye", "and", "on"].map(|text| IncomingMessage::text(text, text));
    let mut event = world.event("ana", messages().to_vec());
    event.messages[2].id = "bye2".to_owned();
    event.context = json!({ "plan": "gold" }).as_object().cloned();
    let event = ConversationEvent::Incoming(event);
    let report = world.handle(event.clone()).await;
    assert_eq!(bodies(&report), ["Bye", "Hello gold", "Bye", "Hello gold", "You said on"]);
    let ids: Vec<_> = report.stored.iter().map(|stored| stored.id.clone()).collect();
    assert!(ids.len() == 5 && report.stored.iter().all(|stored| !stored.duplicate));
    assert_eq!(*world.sink.0.lock().expect("a lock").last_chunk::<5>().expect("five"), report.outgoing[..]);
    // Each in the chat of its own session; the flow closed the others.
    let last = world.stored("ana").await.expect("a session").session;
    assert_eq!(world.open_chat("ana").await, last.chat_id);
    assert_eq!(world.transcript(&first.chat_id).await, ["> oi", "< Hello ", "> bye", "< Bye"]);
    let said = ["> and", "> on", "< Hello gold", "< You said on"];
    assert_eq!(world.transcript(&last.chat_id).await, said);
    let history = world.history(&last.chat_id).await;
    assert_eq!(history.iter().map(|message| &message.id).take(2).collect::<Vec<_>>(), [&ids[3], &ids[4]]);
    // It is done once.
    let again = world.handle(event).await;
    assert_eq!((again.stored.iter().filter(|stored| stored.duplicate).count(), bodies(&again).len()), (5, 0));

    // Where the router has another flow by then, that one begins.
    let other = flow_of(&[block("only", "Other", &json!({ "end": true }))]);
    world.publish("router1", "other", other).await;
    world.start_with("router1", "other").await;
    let messages = ["bye3", "hey"].map(|id| IncomingMessage::text(id, id.trim_end_matches('3')));
    let event = ConversationEvent::Incoming(world.event("ana", messages.to_vec()));
    assert_eq!(bodies(&world.handle(event).await), ["Bye", "Other"]);
    assert_eq!(world.stored("ana").await, None);
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
