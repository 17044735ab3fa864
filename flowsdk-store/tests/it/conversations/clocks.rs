//! The order of a conversation whose owners and gateways disagree about the time.

use flowsdk_core::message::{Direction, HasMessages as _};
use flowsdk_core::store::Store as _;
use flowsdk_core::time::Timestamp;

use flowsdk_store::sql::SqlStore;

use super::world::{NOW, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    clocks_that_differ_change_no_order,
}

/// Every owner has a clock of its own: seconds ahead, behind, and back again. Questions and answers stand in the order
/// of the turns, and a visitor who comes back after any of them gets all that followed.
async fn clocks_that_differ_change_no_order(store: SqlStore) {
    let world = World::new(store).await;
    let mut expected = Vec::new();
    let mut sent = Vec::new();
    for (n, offset) in [0, 5_000, -5_000, 3, -3, 60_000, 0].into_iter().enumerate() {
        world.clock.set(Timestamp::from_millis(NOW + offset));
        let text = format!("pergunta {n}");
        let report = world.handle(world.text("ana", &n.to_string(), &text)).await;
        expected.push(format!("> {text}"));
        expected.extend(bodies(&report).into_iter().map(|body| format!("< {body}")));
        sent.extend(report.outgoing);
    }
    let chat = world.stored("ana").await.expect("a session").session.chat_id;
    assert_eq!(world.transcript(&chat).await, expected);
    let stored = world.history(&chat).await;
    let numbers: Vec<_> = stored.iter().map(|message| message.seq).collect();
    assert_eq!(numbers, (1..=stored.len() as i64).collect::<Vec<_>>());
    // The live events say the same numbers.
    let live: Vec<_> = sent.iter().map(|event| (event.internal_id.clone(), event.seq)).collect();
    let outgoing = stored.iter().filter(|message| message.direction == Direction::Out);
    let rows: Vec<_> = outgoing.map(|message| (message.id.clone(), Some(message.seq))).collect();
    assert_eq!(live, rows);
    assert_eq!(*world.sink.0.lock().expect("a lock"), sent);
    let mut tx = world.store.read().await.expect("read");
    for message in &stored {
        let missed = tx.messages().outgoing_since(&session("ana"), &chat, Some(&message.id), 100).await;
        let missed: Vec<_> = missed.expect("found").into_iter().map(|missed| missed.seq).collect();
        let after = rows.iter().filter_map(|(_, seq)| seq.filter(|seq| *seq > message.seq));
        assert_eq!(missed, after.collect::<Vec<_>>(), "since {}", message.seq);
    }
}
