//! The consumer end to end over streams and leases in the database.

mod classes;
mod ground;
mod leaving;
mod recorder;
mod slow;
mod work;

use std::sync::Arc;

use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;

use crate::support::databases::on_every_database;
use recorder::{GROUP, Recorder, STREAM, Site, TTL};

on_every_database! {
    order_is_kept_and_nothing_is_lost,
    an_outage_does_not_use_up_the_attempts,
    what_cannot_be_read_is_recorded_in_its_turn,
    the_next_owner_goes_on_where_a_dead_one_stopped,
    ownership_that_goes_to_and_fro_loses_nothing,
}

const KEYS: usize = 8;

fn entries(range: std::ops::Range<usize>) -> Vec<NewEntry> {
    range
        .map(|n| NewEntry { topic: TopicName::Flow, key: format!("k{}", n % KEYS), payload: n.to_string() })
        .collect()
}

async fn order_is_kept_and_nothing_is_lost(store: SqlStore) {
    let site = Site::new(store);
    let recorder = Arc::new(Recorder::failing(|n, attempt| match n {
        n if n % 50 == 13 => Some(false),
        n if n % 11 == 3 && attempt == 1 => Some(true),
        n if n % 17 == 5 && attempt <= 2 => Some(false),
        n if n % 61 == 7 && attempt == 1 => panic!("on purpose"),
        _ => None,
    }));
    let mut owner = site.owner("one", &recorder);
    for from in (0..400).step_by(40) {
        let mut batch = entries(from..from + 40);
        batch.push(NewEntry { payload: format!("no number {from}"), ..batch[0].clone() });
        site.broker.publish(&batch).await.expect("publish");
    }
    site.drained().await;
    owner.stop().await;
    let poisoned: Vec<_> = (0..400).filter(|n| n % 50 == 13).collect();
    assert_eq!(recorder.poisoned(), poisoned);
    assert_eq!(recorder.unreadable(), 10);
    let done: Vec<_> = (0..400).filter(|n| n % 50 != 13).collect();
    recorder.assert_first_times(&done);
    assert_eq!(recorder.times(), done.len(), "each once, as nobody died");
    // The lease was given back: the next one need not wait.
    assert!(site.is_free_for("two").await);
}

async fn an_outage_does_not_use_up_the_attempts(store: SqlStore) {
    let site = Site::new(store);
    let recorder = Arc::new(Recorder::failing(|_, attempt| match attempt {
        1..=10 => Some(true),
        11 => Some(false),
        _ => None,
    }));
    let mut owner = site.owner("one", &recorder);
    site.broker.publish(&entries(0..2)).await.expect("publish");
    site.drained().await;
    owner.stop().await;
    assert_eq!(recorder.poisoned(), [0; 0]);
    recorder.assert_first_times(&[0, 1]);
}

async fn what_cannot_be_read_is_recorded_in_its_turn(store: SqlStore) {
    let site = Site::new(store);
    let recorder = Recorder::failing(|n, attempt| (n == 0 && attempt <= 3).then_some(true)).refusing(2);
    let recorder = Arc::new(recorder);
    let mut owner = site.owner("one", &recorder);
    let batch = ["0", "no number", "8", "no number either", "16"];
    let batch = batch.map(|payload| NewEntry { payload: payload.to_owned(), ..entries(0..1).remove(0) });
    site.broker.publish(&batch).await.expect("publish");
    recorder.until(3).await;
    assert_eq!(recorder.order(), ["0", "no number", "8", "no number either", "16"]);
    // Each was acknowledged.
    site.drained().await;
    owner.stop().await;
    assert_eq!(recorder.unreadable(), 2);
}

async fn the_next_owner_goes_on_where_a_dead_one_stopped(store: SqlStore) {
    let site = Site::new(store);
    let recorder = Arc::new(Recorder::failing(|n, _| (n >= 100).then_some(true)));
    let dead = site.owner("one", &recorder);
    site.broker.publish(&entries(0..200)).await.expect("publish");
    recorder.until(100).await;
    // It dies without a word: its lease holds until its time is over.
    dead.kill().await;
    let next = Arc::new(Recorder::failing(|_, _| None));
    let mut owner = site.owner("two", &next);
    assert!(!site.is_free_for("two").await);
    assert_eq!(next.times(), 0);
    site.clock.advance(TTL);
    site.drained().await;
    owner.stop().await;
    let first = next.done();
    assert!(first.iter().filter(|n| **n >= 100).count() == 100, "{first:?}");
    let all: Vec<_> = (0..200).collect();
    recorder.continued_by(&next).assert_first_times(&all);
}

async fn ownership_that_goes_to_and_fro_loses_nothing(store: SqlStore) {
    let site = Site::new(store);
    let recorder = Arc::new(Recorder::failing(|n, attempt| (n % 7 == 3 && attempt == 1).then_some(true)));
    let mut owners = [site.owner("one", &recorder), site.owner("two", &recorder)];
    for from in (0..600).step_by(100) {
        site.broker.publish(&entries(from..from + 100)).await.expect("publish");
        recorder.until(from + 50).await;
        // Whoever owns the partition loses it in the middle of its work.
        site.clock.advance(TTL * 2);
    }
    site.drained().await;
    for owner in &mut owners {
        owner.stop().await;
    }
    let all: Vec<_> = (0..600).collect();
    recorder.assert_first_times(&all);
    assert_eq!(site.broker.backlog(STREAM, GROUP).await.expect("backlog"), 0);
}
