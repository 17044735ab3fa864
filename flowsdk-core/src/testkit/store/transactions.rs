//! Transactions and their outbox.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::StoreUnderTest;
use super::world::{World, contact, session_id};
use crate::prelude::*;
use crate::store::Store;
use crate::stream::broker::{NewEntry, StreamReader};
use crate::stream::topic::{StreamPartition, TopicName};
use crate::testkit::broker::GROUPS;
use crate::testkit::store::StoreTx;

/// Longer than anything takes that is going to happen.
const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough to see that nothing comes.
const SHORT: Duration = Duration::from_millis(50);

fn entries(range: std::ops::Range<usize>) -> Vec<NewEntry> {
    let entry = |n| NewEntry { topic: TopicName::Flow, key: "k".to_owned(), payload: format!("é{n}") };
    range.map(entry).collect()
}

async fn open<S: Store>(subject: &StoreUnderTest<S>, group: &str) -> Box<dyn StreamReader> {
    let index = crate::stream::topic::partition_of("k", subject.streams.partitions());
    let stream = StreamPartition { topic: TopicName::Flow, index };
    subject.streams.open(stream, group, "one").await.expect("open")
}

async fn payloads(reader: &mut Box<dyn StreamReader>, count: usize) -> Vec<String> {
    let mut read = Vec::new();
    while read.len() < count {
        let some = reader.read(count - read.len(), PATIENCE).await.expect("read");
        assert!(!some.is_empty(), "{} of {count} came", read.len());
        read.extend(some.into_iter().map(|entry| entry.payload));
    }
    read
}

async fn nothing(reader: &mut Box<dyn StreamReader>) {
    assert_eq!(reader.read(1, SHORT).await.expect("read"), []);
}

/// A transaction that is dropped leaves no rows and no events, and the next one works.
pub async fn a_dropped_transaction_leaves_nothing<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut reader = open(&subject, GROUPS[0]).await;
    for _ in 0..20 {
        let mut tx = world.store.begin().await.expect("begin");
        let session = world.session(1);
        let write = crate::session::SessionWrite { session: &session, expected: None };
        tx.sessions().save_many(&[write]).await.expect("save");
        tx.chats().close_many(std::slice::from_ref(&world.chat)).await.expect("close");
        tx.contacts().insert_or_get(&contact(&world.cx, 1)).await.expect("a contact");
        tx.outbox().push_many(&entries(0..3)).await.expect("push");
        drop(tx);
    }
    assert_eq!(world.stored(1).await, None);
    let mut tx = world.store.read().await.expect("read");
    let identity = session_id(1).contact_identity();
    assert_eq!(tx.contacts().find_by_phone_numbers(&[identity]).await.expect("find"), []);
    drop(tx);
    nothing(&mut reader).await;
}

/// Events appear with the commit, for every group, in order, in batches of any size.
pub async fn events_appear_with_the_commit<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let mut readers = [open(&subject, GROUPS[0]).await, open(&subject, GROUPS[1]).await];
    let mut from = 0;
    for size in [0, 1, 3, 130, 300] {
        let mut tx = subject.store.begin().await.expect("begin");
        tx.outbox().push_many(&entries(from..from + size)).await.expect("push");
        tx.outbox().push_many(&entries(from + size..from + size + 1)).await.expect("push");
        if !subject.one_connection {
            nothing(&mut readers[0]).await;
        }
        tx.commit().await.expect("commit");
        for reader in &mut readers {
            let expected: Vec<_> = (from..=from + size).map(|n| format!("é{n}")).collect();
            assert_eq!(payloads(reader, size + 1).await, expected);
        }
        from += size + 1;
    }
}

/// Many transactions at once lose no event, and the events of one transaction keep their order.
pub async fn events_of_concurrent_commits_all_appear<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    const WRITERS: usize = 8;
    const ROUNDS: usize = 25;
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&subject.store);
        tasks.spawn(async move {
            for round in 0..ROUNDS {
                let from = (writer * ROUNDS + round) * 2;
                let mut tx = store.begin().await.expect("begin");
                for n in from..from + 2 {
                    tx.outbox().push_many(&entries(n..n + 1)).await.expect("push");
                    tokio::task::yield_now().await;
                }
                tx.commit().await.expect("commit");
            }
        });
    }
    let mut reader = open(&subject, GROUPS[0]).await;
    let read = payloads(&mut reader, WRITERS * ROUNDS * 2).await;
    tasks.join_all().await;
    let numbers: Vec<usize> = read.iter().filter_map(|text| text.strip_prefix('é')?.parse().ok()).collect();
    for writer in 0..WRITERS {
        let own: Vec<_> = numbers.iter().copied().filter(|n| n / (ROUNDS * 2) == writer).collect();
        let expected: Vec<_> = (writer * ROUNDS * 2..(writer + 1) * ROUNDS * 2).collect();
        assert_eq!(own, expected, "of writer {writer}");
    }
    nothing(&mut reader).await;
}

/// While one transaction reads, another commits; the reader does not stop it, and uncommitted writes are not seen.
/// A store of one connection lets them follow each other.
pub async fn a_reader_does_not_hold_up_a_writer<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut reading = world.store.read().await.expect("read");
    let known = [contact(&world.cx, 0).phone_number];
    assert_eq!(reading.contacts().find_by_phone_numbers(&known).await.expect("find").len(), 1);
    let (store, new) = (Arc::clone(&world.store), contact(&world.cx, 1));
    let (wrote, written) = oneshot::channel();
    let (go_on, went_on) = oneshot::channel::<()>();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut tx = store.begin().await.expect("begin");
        let contact = tx.contacts().insert_or_get(&new).await.expect("insert");
        wrote.send(contact).expect("somebody waits");
        went_on.await.expect("told");
        tx.commit().await.expect("commit");
    });
    if subject.one_connection {
        drop(reading);
        let contact = written.await.expect("written");
        go_on.send(()).expect("somebody waits");
        tasks.join_all().await;
        let mut tx = world.store.read().await.expect("read");
        assert_eq!(
            tx.contacts().find_by_phone_numbers(&[contact.phone_number]).await.expect("find").len(),
            1
        );
        return;
    }
    let contact = written.await.expect("written");
    let ids = [contact.phone_number];
    let mut second = world.store.read().await.expect("read");
    assert_eq!(second.contacts().find_by_phone_numbers(&ids).await.expect("find"), []);
    go_on.send(()).expect("somebody waits");
    tasks.join_all().await;
    assert_eq!(reading.contacts().find_by_phone_numbers(&known).await.expect("find").len(), 1);
    let mut third = world.store.read().await.expect("read");
    assert_eq!(third.contacts().find_by_phone_numbers(&ids).await.expect("find").len(), 1);
}

/// A transaction that began to read cannot write, unless the store has one connection for both.
pub async fn a_reading_transaction_refuses_to_write<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    if subject.one_connection {
        return;
    }
    let world = World::new(&subject).await;
    let mut tx = world.store.read().await.expect("read");
    let refused = tx.contacts().insert_or_get(&contact(&world.cx, 1)).await;
    assert!(refused.is_err(), "{refused:?}");
    drop(tx);
    let mut tx = world.store.begin().await.expect("begin");
    tx.contacts().insert_or_get(&contact(&world.cx, 1)).await.expect("insert");
}
