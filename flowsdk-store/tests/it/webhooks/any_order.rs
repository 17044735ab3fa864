//! Whatever a webhook answers and whenever it is replayed, no event is lost, and those of a conversation keep their order.

use std::collections::BTreeMap;
use std::time::Duration;

use flowsdk_store::sql::SqlStore;
use flowsdk_webhooks::delivery::DeliveryStatus;
use flowsdk_webhooks::webhook::WebhookChange;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::place::Place;
use crate::support::databases::on_every_database;

on_every_database! { events_arrive_in_the_order_of_their_conversation }

#[derive(Debug, Clone)]
enum Act {
    Happens(u32),
    Answers(Vec<u16>),
    Passes(u64),
    Pause(bool),
    Wake,
}

fn acts() -> Vec<Act> {
    let act = prop_oneof![
        5 => (0..3_u32).prop_map(Act::Happens),
        2 => prop::collection::vec(prop::sample::select(vec![500, 204, 0]), 0..4).prop_map(Act::Answers),
        1 => (1..40_u64).prop_map(Act::Passes),
        1 => any::<bool>().prop_map(Act::Pause),
        1 => Just(Act::Wake),
    ];
    let mut runner = TestRunner::deterministic();
    prop::collection::vec(act, 200).new_tree(&mut runner).expect("acts").current()
}

fn pause(is_paused: bool) -> WebhookChange {
    WebhookChange { is_paused: Some(is_paused), ..WebhookChange::default() }
}

async fn events_arrive_in_the_order_of_their_conversation(store: SqlStore) {
    let place = Place::new(store).await;
    let mut happened: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut taken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (step, act) in acts().into_iter().enumerate() {
        match act {
            Act::Happens(at) => {
                let (event, conversation) = (format!("c{at}-e{step}"), format!("c{at}"));
                place.happens(&event, &conversation).await;
                happened.entry(conversation).or_default().push(event);
            }
            Act::Answers(answers) => place.receiver.answers(&answers),
            Act::Passes(seconds) => place.world.clock.advance(Duration::from_secs(seconds)),
            Act::Pause(is_paused) => place.change(pause(is_paused)).await,
            Act::Wake => place.sender.wake().await.expect("woken"),
        }
        send(&place, &mut taken).await;
    }
    place.change(pause(false)).await;
    for _ in 0..30 {
        place.world.clock.advance(Duration::from_hours(1));
        send(&place, &mut taken).await;
    }
    assert_eq!(taken, happened);
    let all = place.deliveries().await;
    assert!(all.iter().all(|one| one.status == DeliveryStatus::Delivered), "{all:?}");
}

/// Sends what is due, and notes what the server has taken.
async fn send(place: &Place, taken: &mut BTreeMap<String, Vec<String>>) {
    place.send().await;
    let known: usize = taken.values().map(Vec::len).sum();
    let delivered: Vec<_> =
        place.deliveries().await.into_iter().filter(|one| one.status == DeliveryStatus::Delivered).collect();
    if delivered.len() == known {
        return;
    }
    let mut delivered: Vec<_> = delivered.into_iter().map(|one| (one.key, one.seq, one.event_id)).collect();
    delivered.sort();
    let mut now: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, seq, event) in delivered {
        let of_key = now.entry(key).or_default();
        of_key.push(event);
        assert_eq!(
            usize::try_from(seq).ok(),
            Some(of_key.len()),
            "one was taken before another one: {of_key:?}"
        );
    }
    *taken = now;
}
