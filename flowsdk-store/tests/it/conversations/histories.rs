//! All stops of a session stay known, however many a turn has and whatever becomes of it (rulings S17).

use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::prelude::*;
use flowsdk_core::session::{ChunksWanted, HistoryKind, LatestEntries};
use flowsdk_store::sql::SqlStore;

use super::world::{World, session};
use crate::support::databases::on_every_database;

on_every_database! {
    many_stops_of_one_turn_are_archived,
    sessions_of_a_batch_are_archived_together,
}

/// The blocks at which a visitor's session stopped, oldest first.
async fn blocks(world: &World, visitor: &str) -> Vec<String> {
    let mut tx = world.store.read().await.expect("read");
    let id = session(visitor);
    let stored = tx.session_catalog().find(&id).await.expect("read").expect("a session");
    let wanted = ChunksWanted { below: i64::MAX, most: 1_000 };
    let chunks = tx.session_catalog().archived(&id, HistoryKind::Stop, wanted).await.expect("chunks");
    let latest = LatestEntries::of(&stored.session, HistoryKind::Stop);
    let (items, more) = latest.page(chunks, None, 10_000);
    assert!(!more && items.last().is_none_or(|(number, _)| *number == 0));
    items.into_iter().rev().map(|(_, stop)| stop.block_id.to_string()).collect()
}

/// A text for each of three blocks.
fn text(n: usize) -> &'static str {
    ["name", "mail", "word"][n % 3]
}

fn block(n: usize) -> &'static str {
    ["name", "mail", "echo"][n % 3]
}

fn expected(answers: usize) -> Vec<&'static str> {
    std::iter::once("hello").chain((0..answers).map(block)).collect()
}

async fn many_stops_of_one_turn_are_archived(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "first", "oi").await;
    let mut answers = 0;
    for size in [1, 18, 45, 20, 64, 1] {
        let messages = (answers..answers + size).map(|n| IncomingMessage::text(format!("m{n}"), text(n)));
        let event = ConversationEvent::Incoming(world.event("ana", messages.collect()));
        answers += size;
        world.handle(event.clone()).await;
        assert_eq!(blocks(&world, "ana").await, expected(answers), "{size}");
        // Delivered again it has no turns.
        world.handle(event).await;
        assert_eq!(blocks(&world, "ana").await, expected(answers), "{size}");
    }
    // A turn that freezes its session leaves the stops before it.
    world.say("ana", "last", "loop").await;
    assert!(world.stored("ana").await.expect("a session").frozen);
    assert_eq!(blocks(&world, "ana").await, expected(answers));
}

async fn sessions_of_a_batch_are_archived_together(store: SqlStore) {
    let world = World::new(store).await;
    let visitors = ["ana", "bia", "caio"];
    for n in 0..=62 {
        let event = |visitor: &str| {
            world.text(visitor, &format!("{visitor}{n}"), if n == 0 { "oi" } else { text(n - 1) })
        };
        // One of them is some stops behind the others.
        let events: Vec<_> =
            visitors.iter().skip(usize::from(n % 9 == 8)).map(|visitor| event(visitor)).collect();
        world.try_handle(&events).await.expect("handled");
    }
    for visitor in &visitors[1..] {
        assert_eq!(blocks(&world, visitor).await, expected(62), "{visitor}");
    }
    assert_eq!(blocks(&world, "ana").await.len(), 63 - 7);
    // The end of a session takes its history along, and the next one begins its own.
    world.say("bia", "end", "bye").await;
    world.say("bia", "again", "oi").await;
    assert_eq!(blocks(&world, "bia").await, ["hello"]);
    assert_eq!(blocks(&world, "caio").await, expected(62));
}
