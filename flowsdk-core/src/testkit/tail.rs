//! The cases of [`tail_conformance!`](crate::tail_conformance).
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::sync::Arc;

use super::broker::{
    GROUP, ack, backlog, collect, nothing, numbers, open, partition, publish, see_at_once, waits_in_vain,
};
use crate::stream::broker::{Broker, StreamReader, Tails};

/// The names of the cases.
pub const CASES: &[&str] = crate::__tail_cases! { (crate::__conformance_names) };

fn as_broker(broker: &Arc<dyn Tails>) -> Arc<dyn Broker> {
    Arc::clone(broker) as Arc<dyn Broker>
}

async fn tail(broker: &Arc<dyn Tails>) -> Box<dyn StreamReader> {
    broker.tail(partition(&as_broker(broker), "k")).await.expect("tail")
}

/// A read of a tail on which nothing comes waits as long as it was told and gives an empty list.
pub async fn an_empty_tail_waits_and_returns(broker: Arc<dyn Tails>) {
    waits_in_vain(&mut tail(&broker).await).await;
}

/// Tails that wait return when something comes, long before their time is over.
pub async fn a_waiting_tail_sees_what_is_published(broker: Arc<dyn Tails>) {
    let mut readers = vec![tail(&broker).await, tail(&broker).await];
    see_at_once(&as_broker(&broker), &mut readers).await;
}

/// A tail returns the entries published after it was opened, and nothing older.
pub async fn a_tail_sees_only_what_is_new(tails: Arc<dyn Tails>) {
    let broker = as_broker(&tails);
    let mut first = tail(&tails).await;
    publish(&broker, 0..5).await;
    let mut second = tail(&tails).await;
    publish(&broker, 5..8).await;
    assert_eq!(numbers(&collect(&mut second, 3).await), [5, 6, 7]);
    assert_eq!(numbers(&collect(&mut first, 8).await), (0..8).collect::<Vec<_>>());
    publish(&broker, 8..9).await;
    for tail in [&mut first, &mut second] {
        assert_eq!(numbers(&collect(tail, 1).await), [8]);
        nothing(tail).await;
    }
}

/// A tail takes nothing from a group, and an acknowledgement nothing from a tail.
pub async fn a_tail_leaves_groups_alone(tails: Arc<dyn Tails>) {
    let broker = as_broker(&tails);
    let mut reader = open(&broker, GROUP, "one").await;
    let mut tail = tail(&tails).await;
    publish(&broker, 0..3).await;
    let entries = collect(&mut reader, 3).await;
    ack(&broker, GROUP, &entries).await;
    assert_eq!(numbers(&collect(&mut tail, 3).await), [0, 1, 2]);
    publish(&broker, 3..5).await;
    assert_eq!(numbers(&collect(&mut tail, 2).await), [3, 4]);
    assert_eq!(backlog(&broker, GROUP).await, 2);
    assert_eq!(numbers(&collect(&mut reader, 2).await), [3, 4]);
}
