//! What comes twice has its effects once.

use std::sync::Arc;

use flowsdk_core::conversation::{ConversationConsumer, ConversationEvent};
use flowsdk_core::event::{FlowEvent, InputTimeout};
use flowsdk_core::fault::StorageError;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{HasSessions as _, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::consumer::{BatchHandler as _, Verdict, Work};
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;

use super::world::{MINUTE, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    an_event_that_comes_twice_runs_one_turn,
    a_clients_own_id_counts_within_its_session,
    one_event_may_bring_a_message_twice,
    two_sessions_of_a_batch_may_bring_one_id,
    every_input_twice_has_the_effects_of_once,
    a_first_message_that_many_handle_at_once_runs_one_turn,
    a_stale_write_is_tried_again,
}

fn with_client_id(id: &str, client: &str, text: &str) -> IncomingMessage {
    IncomingMessage { client_message_id: Some(client.to_owned()), ..IncomingMessage::text(id, text) }
}

async fn an_event_that_comes_twice_runs_one_turn(store: SqlStore) {
    let world = World::new(store).await;
    for (id, text, answer) in [("m1", "oi", "Hello "), ("m2", "a", "You said a"), ("m3", "bye", "Bye")] {
        let event = world.text("ana", id, text);
        let first = world.handle(event.clone()).await;
        assert_eq!(bodies(&first), [answer]);
        for _ in 0..2 {
            let again = world.handle(event.clone()).await;
            assert_eq!(again.outgoing, [], "{text}");
            assert_eq!((&again.stored[0].id, again.stored[0].duplicate), (&first.stored[0].id, true));
        }
    }
    let sent = world.sink.0.lock().expect("a lock").len();
    assert_eq!(sent, 3);
}

async fn a_clients_own_id_counts_within_its_session(store: SqlStore) {
    let world = World::new(store).await;
    let send = |visitor: &str, id: &str| {
        let event = world.event(visitor, vec![with_client_id(id, "client-1", "oi")]);
        world.handle(ConversationEvent::Incoming(event))
    };
    let first = send("ana", "m1").await;
    let again = send("ana", "m2").await;
    assert_eq!((&again.stored[0].id, again.stored[0].duplicate), (&first.stored[0].id, true));
    assert_eq!(again.outgoing, []);
    assert_eq!(bodies(&send("bia", "m3").await), ["Hello "]);
}

async fn one_event_may_bring_a_message_twice(store: SqlStore) {
    let world = World::new(store).await;
    let messages = vec![
        with_client_id("m1", "a", "oi"),
        with_client_id("m2", "a", "oi"),
        with_client_id("m3", "b", "1"),
        with_client_id("m4", "b", "1"),
    ];
    let report = world.handle(ConversationEvent::Incoming(world.event("ana", messages))).await;
    assert_eq!(bodies(&report), ["Hello ", "You said 1"]);
    let duplicates: Vec<_> = report.stored.iter().map(|stored| stored.duplicate).collect();
    assert_eq!(duplicates, [false, true, false, true]);
    assert_eq!(report.stored[0].id, report.stored[1].id);
}

async fn two_sessions_of_a_batch_may_bring_one_id(store: SqlStore) {
    let world = World::new(store).await;
    let events =
        [world.text("ana", "m1", "oi"), world.text("bia", "m1", "oi"), world.text("caio", "m2", "oi")];
    for first in [true, false] {
        let reports = world.try_handle(&events).await.expect("handled");
        let answered: Vec<_> = reports.iter().map(|report| !report.outgoing.is_empty()).collect();
        assert_eq!(answered, [first, false, first]);
        assert_eq!(reports[0].stored[0].id, reports[1].stored[0].id);
    }
}

async fn every_input_twice_has_the_effects_of_once(store: SqlStore) {
    let world = World::new(store).await;
    let timeout = |visitor: &str| {
        ConversationEvent::Flow(FlowEvent::InputTimeout(InputTimeout { session_id: session(visitor) }))
    };
    let inputs = [
        world.text("ana", "m1", "oi"),
        timeout("ana"),
        ConversationEvent::Flow(FlowEvent::Message(
            world.event("ana", vec![IncomingMessage::text("m2", "a")]),
        )),
        world.text("ana", "m3", "bye"),
        timeout("ana"),
        world.text("ana", "m4", "de novo"),
    ];
    for input in &inputs {
        world.handle(input.clone()).await;
        world.handle(input.clone()).await;
    }
    let sent: Vec<_> = world.sink.0.lock().expect("a lock").iter().map(super::world::body).collect();
    assert_eq!(sent, ["Hello ", "You said a", "Bye", "Hello "]);
    world.clock.advance(MINUTE);
    assert_eq!(bodies(&world.handle(timeout("ana")).await), ["Too late"]);
    assert_eq!(bodies(&world.handle(timeout("ana")).await), [""; 0]);
    assert_eq!(world.stored("ana").await, None);
}

/// As when a lease ran out: several processes have the same entry. Each tries again as its consumer would.
async fn a_first_message_that_many_handle_at_once_runs_one_turn(store: SqlStore) {
    let world = Arc::new(World::new(store).await);
    for round in 0..5 {
        let visitor = format!("visitor{round}");
        world.add_visitor(&visitor).await;
        let mut tasks = JoinSet::new();
        for other in 0..8 {
            let (world, visitor) = (Arc::clone(&world), visitor.clone());
            tasks.spawn(async move {
                // Half of them have another message, so that they compete for the session, not for the row.
                let id = if other % 2 == 0 { format!("{visitor}-m") } else { format!("{visitor}-{other}") };
                let events = [world.text(&visitor, &id, "oi")];
                loop {
                    match world.try_handle(&events).await {
                        Ok(reports) => return reports[0].outgoing.len(),
                        Err(error) => assert!(error.is_transient(), "{error:?}"),
                    }
                }
            });
        }
        let answers: usize = tasks.join_all().await.into_iter().sum();
        assert_eq!(answers, 5, "one for each message");
        let transcript = world.transcript_of(&visitor).await;
        assert_eq!(transcript.iter().filter(|line| *line == "< Hello ").count(), 1, "{transcript:?}");
        assert_eq!(transcript.iter().filter(|line| *line == "< You said oi").count(), 4, "{transcript:?}");
    }
}

/// What another wrote meanwhile is found out at the write: the consumer is told to try again.
async fn a_stale_write_is_tried_again(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let stored = world.stored("ana").await.expect("a session").session;
    let mut newer = stored.clone();
    newer.version += 1;
    let mut tx = world.store.begin().await.expect("begin");
    let write = SessionWrite { session: &newer, expected: Some(stored.version) };
    tx.sessions().save_many(&[write]).await.expect("save");
    tx.commit().await.expect("commit");
    let mut tx = world.store.begin().await.expect("begin");
    let write = SessionWrite { session: &newer, expected: Some(stored.version) };
    let stale = tx.sessions().save_many(&[write]).await;
    assert!(matches!(stale, Err(StorageError::Stale { .. })) && stale.expect_err("stale").is_transient());
    drop(tx);
    let consumer = ConversationConsumer::new(Arc::clone(&world.conversations));
    let work = Work::detached(session("ana").as_str(), world.text("ana", "m2", "a"));
    let verdicts = consumer.handle(&[work]).await;
    assert!(
        matches!(&verdicts[..], [Verdict::Done(report)] if bodies(report) == ["You said a"]),
        "{verdicts:?}"
    );
}
