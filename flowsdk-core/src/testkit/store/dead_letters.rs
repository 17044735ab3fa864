//! Dead letters.

use super::StoreUnderTest;
use super::world::{World, later, session_id};
use crate::id::DeadLetterId;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::store::Store;
use crate::stream::dead_letter::{DeadLetter, DeadLetterFilter, FailedEntry};
use crate::stream::topic::TopicName;
use crate::testkit::store::StoreTx;

fn failed(n: u64, topic: TopicName, group: &str) -> FailedEntry {
    FailedEntry {
        topic,
        group: group.to_owned(),
        source: Some(format!("0:{n}")),
        key: format!("k{n}"),
        payload: r#"{"text":"é\"👋"}"#.to_owned(),
        reason: "Ação recusada".to_owned(),
        attempts: 5,
        first_failed_at: later(n),
        failed_at: later(n + 10),
    }
}

fn id(n: u64) -> DeadLetterId {
    format!("letter{n}").parse().expect("an id")
}

async fn record<S: Store>(subject: &StoreUnderTest<S>, entries: &[(DeadLetterId, FailedEntry)])
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    for (id, entry) in entries {
        tx.dead_letters().record(id, entry).await.expect("record");
    }
    tx.commit().await.expect("commit");
}

/// A dead letter is read back with the router of its session; recorded again, it is the same one.
pub async fn a_dead_letter_is_recorded_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    world.save(&[(world.session(1), None)]).await.expect("save");
    let entry = FailedEntry { key: session_id(1).to_string(), ..failed(0, TopicName::Incoming, "g") };
    let no_source = FailedEntry { source: None, ..failed(1, TopicName::Incoming, "g") };
    let again =
        FailedEntry { attempts: 2, reason: "other".to_owned(), failed_at: later(30), ..entry.clone() };
    let of_another_group = FailedEntry { group: "h".to_owned(), ..entry.clone() };
    let all = [entry.clone(), no_source.clone(), no_source, again, of_another_group];
    record(&subject, &(0..).map(id).zip(all).collect::<Vec<_>>()).await;
    let mut tx = world.store.read().await.expect("read");
    let found = tx.dead_letters().find(&id(0)).await.expect("find").expect("there is");
    let expected = DeadLetter {
        id: id(0),
        topic: TopicName::Incoming,
        group: "g".to_owned(),
        key: session_id(1).to_string(),
        payload: entry.payload,
        reason: "other".to_owned(),
        attempts: 7,
        router_id: Some(world.router.clone()),
        first_failed_at: later(0),
        failed_at: later(30),
    };
    assert_eq!(found, expected);
    let mut there = Vec::new();
    for n in 0..5 {
        there.push(tx.dead_letters().find(&id(n)).await.expect("find").is_some());
    }
    assert_eq!(there, [true, true, true, false, true]);
}

/// Pages are newest first, of one stream and of one group, if they are asked for.
pub async fn dead_letters_are_listed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let topics = [TopicName::Flow, TopicName::Status];
    let entries: Vec<_> = (0..12)
        .map(|n| (id(n), failed(n, topics[n as usize % 2], ["g", "h", "g"][n as usize % 3])))
        .collect();
    record(&subject, &entries).await;
    let mut tx = subject.store.read().await.expect("read");
    for topic in [None, Some(TopicName::Flow), Some(TopicName::Status), Some(TopicName::Agent)] {
        for group in [None, Some("g"), Some("h"), Some("g\0")] {
            let filter = DeadLetterFilter { topic, group: group.map(str::to_owned) };
            let fits = |entry: &FailedEntry| {
                topic.is_none_or(|topic| topic == entry.topic)
                    && group.is_none_or(|group| group == entry.group)
            };
            let expected: Vec<_> =
                entries.iter().rev().filter(|(_, entry)| fits(entry)).map(|(id, _)| id.clone()).collect();
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = PageRequest { limit: 2, after };
                let page = tx.dead_letters().list(&filter, &page).await.expect("a page");
                found.extend(page.items.into_iter().map(|letter| letter.id));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{filter:?}");
        }
    }
}

/// Of several that take a dead letter at once, one gets it; a transaction that is dropped leaves it.
pub async fn a_dead_letter_is_taken_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    record(&subject, &[(id(0), failed(0, TopicName::Flow, "g"))]).await;
    let mut tx = subject.store.begin().await.expect("begin");
    assert!(tx.dead_letters().take(&id(0)).await.expect("take").is_some());
    drop(tx);
    let mut takers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = std::sync::Arc::clone(&subject.store);
        takers.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let taken = tx.dead_letters().take(&id(0)).await.expect("take");
            tx.commit().await.expect("commit");
            usize::from(taken.is_some())
        });
    }
    assert_eq!(takers.join_all().await.into_iter().sum::<usize>(), 1);
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.dead_letters().find(&id(0)).await.expect("find"), None);
    assert_eq!(tx.dead_letters().take(&id(0)).await.expect("take"), None);
}

/// The outbox says which streams are read.
pub async fn streams_that_are_read_are_known<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    // The groups of the conformance suites read every stream.
    assert!(TopicName::ALL.into_iter().all(|topic| tx.outbox().is_read(topic)));
}
