//! The outbox as a relay reads it.

use std::time::Duration;

use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::{Broker as _, Entry, NewEntry, StreamReader};
use flowsdk_core::stream::outbox::HasOutbox as _;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_store::sql::{SqlBroker, SqlStore, SqlTx};

use crate::support::databases::on_every_database;

on_every_database! {
    what_is_left_comes_again_in_order,
    what_comes_back_is_read_again,
    transactions_given_up_while_they_begin_leave_nothing_open,
}

const STREAM: StreamPartition = StreamPartition { topic: TopicName::Flow, index: 0 };

async fn put(tx: &mut SqlTx, payload: &str) {
    let entry = NewEntry { topic: STREAM.topic, key: "wc-c-u".to_owned(), payload: payload.to_owned() };
    tx.outbox().push_many(&[entry]).await.expect("it is stored");
}

async fn committed(store: &SqlStore, payload: &str) {
    let mut tx = store.begin().await.expect("begins");
    put(&mut tx, payload).await;
    tx.commit().await.expect("commits");
}

async fn open(broker: &SqlBroker) -> Box<dyn StreamReader> {
    broker.open(STREAM, GROUPS[0], "relay").await.expect("opens")
}

async fn read(reader: &mut dyn StreamReader) -> Vec<Entry> {
    reader.read(10, Duration::ZERO).await.expect("reads")
}

fn payloads(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.payload.as_str()).collect()
}

async fn what_is_left_comes_again_in_order(store: SqlStore) {
    let broker = SqlBroker::outbox(store.clone());
    let mut reader = open(&broker).await;
    assert!(read(reader.as_mut()).await.is_empty());
    for payload in ["1", "2", "3"] {
        committed(&store, payload).await;
    }
    let entries = read(reader.as_mut()).await;
    assert_eq!(payloads(&entries), ["1", "2", "3"]);
    broker.ack(STREAM, GROUPS[0], &[entries[1].id.clone()]).await.expect("acknowledges");
    committed(&store, "4").await;
    assert_eq!(payloads(&read(open(&broker).await.as_mut()).await), ["1", "3", "4"], "another owner");
}

/// An acknowledgement does not wait until it is on disk, so a crash of the server may undo it.
async fn what_comes_back_is_read_again(store: SqlStore) {
    let broker = SqlBroker::outbox(store.clone());
    let mut reader = open(&broker).await;
    committed(&store, "first").await;
    committed(&store, "second").await;
    let entries = read(reader.as_mut()).await;
    assert_eq!(payloads(&entries), ["first", "second"]);
    // Neither is acknowledged, which is the same to the reader.
    committed(&store, "third").await;
    let mut seen = Vec::new();
    while !seen.iter().any(|payload| payload == "first") {
        let entries = reader.read(10, Duration::from_secs(60)).await.expect("reads");
        assert!(!entries.is_empty(), "{seen:?}");
        let ids: Vec<String> =
            entries.iter().filter(|entry| entry.payload == "third").map(|entry| entry.id.clone()).collect();
        broker.ack(STREAM, GROUPS[0], &ids).await.expect("acknowledges");
        seen.extend(entries.into_iter().map(|entry| entry.payload));
    }
    assert!(seen.iter().any(|payload| payload == "third"), "{seen:?}");
}

/// The answers of a tenant are not to wait for the end of another tenant's long turn.
#[tokio::test]
async fn nothing_waits_for_an_older_transaction() {
    let Some(store) = crate::support::databases::postgres().await else { return };
    let broker = SqlBroker::outbox(store.clone());
    let mut reader = open(&broker).await;
    let mut long = store.begin().await.expect("begins");
    put(&mut long, "long").await;
    committed(&store, "short").await;
    let entries = read(reader.as_mut()).await;
    assert_eq!(payloads(&entries), ["short"]);
    broker.ack(STREAM, GROUPS[0], &[entries[0].id.clone()]).await.expect("acknowledges");
    // It has a lower number than what was read.
    long.commit().await.expect("commits");
    assert_eq!(payloads(&read(reader.as_mut()).await), ["long"]);
}

/// A caller that goes away drops its transaction at any moment. Entries put into one that somebody else had left open would
/// have its old place in the order, behind readers, or be lost with it.
async fn transactions_given_up_while_they_begin_leave_nothing_open(store: SqlStore) {
    let broker = SqlBroker::new(store.clone());
    let mut reader = open(&broker).await;
    for number in 0..32 {
        committed(&store, &number.to_string()).await;
        let entries = reader.read(10, Duration::from_secs(60)).await.expect("reads");
        assert_eq!(payloads(&entries), [number.to_string()]);
        // It has asked for the transaction, and has no answer yet.
        drop(futures_util::poll!(std::pin::pin!(store.begin())));
        let left = async || broker.backlog(STREAM, GROUPS[0]).await.expect("a backlog");
        assert_eq!(left().await, 1, "{number}, while the connection goes back");
        broker.ack(STREAM, GROUPS[0], &[entries[0].id.clone()]).await.expect("acknowledges");
        assert_eq!(left().await, 0, "{number} is acknowledged");
    }
}
