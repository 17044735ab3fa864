//! The cases of [`broker_conformance!`](crate::broker_conformance).
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::stream::broker::{Broker, Entry, NewEntry, StreamReader};
use crate::stream::topic::{StreamPartition, TopicName, partition_of};

/// The names of the cases.
pub const CASES: &[&str] = crate::__broker_cases! { (crate::__conformance_names) };

const TOPIC: TopicName = TopicName::Flow;
/// The groups that read. A broker whose groups are static has these two on every stream; an entry that
/// was published before its group was opened is there for it all the same.
pub const GROUPS: [&str; 2] = [GROUP, OTHER_GROUP];
pub(super) const GROUP: &str = "engine";
const OTHER_GROUP: &str = "other";
/// Longer than anything takes that is going to happen.
const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough to see that nothing comes.
const SHORT: Duration = Duration::from_millis(50);

pub(super) fn partition(broker: &Arc<dyn Broker>, key: &str) -> StreamPartition {
    StreamPartition { topic: TOPIC, index: partition_of(key, broker.partitions()) }
}

/// A key of the partition that `"k"` has.
fn sibling(broker: &Arc<dyn Broker>, nth: usize) -> String {
    let home = partition(broker, "k");
    (0..)
        .map(|n| format!("k-{n}"))
        .filter(|key| partition(broker, key) == home)
        .nth(nth)
        .expect("keys never end")
}

fn entry(key: &str, payload: impl ToString) -> NewEntry {
    NewEntry { topic: TOPIC, key: key.to_owned(), payload: payload.to_string() }
}

/// Publishes the numbers of `range` under key `"k"`.
pub(super) async fn publish(broker: &Arc<dyn Broker>, range: std::ops::Range<usize>) {
    let entries: Vec<_> = range.map(|n| entry("k", n)).collect();
    broker.publish(&entries).await.expect("publish");
}

pub(super) async fn open(broker: &Arc<dyn Broker>, group: &str, consumer: &str) -> Box<dyn StreamReader> {
    broker.open(partition(broker, "k"), group, consumer).await.expect("open")
}

/// Reads until there are `count` entries.
pub(super) async fn collect(reader: &mut Box<dyn StreamReader>, count: usize) -> Vec<Entry> {
    let mut entries = Vec::new();
    let end = Instant::now() + PATIENCE;
    while entries.len() < count {
        let left = end.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "{} of {count} entries came", entries.len());
        entries.extend(reader.read(count - entries.len(), left).await.expect("read"));
    }
    entries
}

/// Asserts that a read waits as long as it was told and returns an empty list.
pub(super) async fn waits_in_vain(reader: &mut Box<dyn StreamReader>) {
    let begin = Instant::now();
    let wait = Duration::from_millis(200);
    assert!(reader.read(10, wait).await.expect("read").is_empty());
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_millis(150), "{waited:?}");
    assert!(waited < PATIENCE, "{waited:?}");
    assert!(reader.read(10, Duration::ZERO).await.expect("read").is_empty());
}

/// Asserts that readers that wait return when something is published.
pub(super) async fn see_at_once(broker: &Arc<dyn Broker>, readers: &mut Vec<Box<dyn StreamReader>>) {
    for round in 0..20 {
        let mut tasks = JoinSet::new();
        for mut reader in readers.drain(..) {
            tasks.spawn(async move {
                let entries = reader.read(10, PATIENCE * 4).await.expect("read");
                (reader, numbers(&entries))
            });
        }
        let begin = Instant::now();
        publish(broker, round..round + 1).await;
        for (reader, read) in tasks.join_all().await {
            assert_eq!(read, [round]);
            readers.push(reader);
        }
        assert!(begin.elapsed() < PATIENCE);
    }
}

/// Asserts that nothing comes.
pub(super) async fn nothing(reader: &mut Box<dyn StreamReader>) {
    let entries = reader.read(10, SHORT).await.expect("read");
    assert!(entries.is_empty(), "{entries:?}");
}

pub(super) async fn ack(broker: &Arc<dyn Broker>, group: &str, entries: &[Entry]) {
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    broker.ack(partition(broker, "k"), group, &ids).await.expect("ack");
}

pub(super) async fn backlog(broker: &Arc<dyn Broker>, group: &str) -> u64 {
    broker.backlog(partition(broker, "k"), group).await.expect("backlog")
}

pub(super) fn numbers(entries: &[Entry]) -> Vec<usize> {
    entries.iter().map(|entry| entry.payload.parse().expect("a number")).collect()
}

/// Entries are read in the order in which they were published, each under an id of its own.
pub async fn entries_come_in_the_order_of_publishing(broker: Arc<dyn Broker>) {
    publish(&broker, 0..3).await;
    publish(&broker, 3..4).await;
    publish(&broker, 4..700).await;
    let mut reader = open(&broker, GROUP, "one").await;
    let entries = collect(&mut reader, 700).await;
    assert_eq!(numbers(&entries), (0..700).collect::<Vec<_>>());
    assert!(entries.iter().all(|entry| entry.key == "k"));
    assert_eq!(entries.iter().map(|entry| &entry.id).collect::<BTreeSet<_>>().len(), 700);
    nothing(&mut reader).await;
}

/// A key's entries are in the partition that [`partition_of`] says, and nowhere else.
pub async fn keys_spread_over_the_partitions(broker: Arc<dyn Broker>) {
    let entries: Vec<_> = (0..200).map(|n| entry(&format!("wa-1-{n}"), n)).collect();
    broker.publish(&entries).await.expect("publish");
    for index in 0..broker.partitions() {
        let stream = StreamPartition { topic: TOPIC, index };
        let mut reader = broker.open(stream, GROUP, "one").await.expect("open");
        let here = |entry: &&NewEntry| partition_of(&entry.key, broker.partitions()) == index;
        let expected: Vec<_> =
            entries.iter().filter(here).map(|e| (e.key.as_str(), e.payload.as_str())).collect();
        let read = collect(&mut reader, expected.len()).await;
        let read: Vec<_> = read.iter().map(|e| (e.key.as_str(), e.payload.as_str())).collect();
        assert_eq!(read, expected);
        nothing(&mut reader).await;
    }
}

/// A stream holds its own entries only, also when one call publishes to several.
pub async fn streams_do_not_mix(broker: Arc<dyn Broker>) {
    let entries: Vec<_> = TopicName::ALL
        .into_iter()
        .map(|topic| NewEntry { topic, key: "k".to_owned(), payload: topic.name().to_owned() })
        .collect();
    broker.publish(&entries).await.expect("publish");
    for topic in TopicName::ALL {
        let stream = StreamPartition { topic, ..partition(&broker, "k") };
        let mut reader = broker.open(stream, GROUP, "one").await.expect("open");
        assert_eq!(collect(&mut reader, 1).await[0].payload, topic.name());
        nothing(&mut reader).await;
    }
}

/// Publishing and acknowledging nothing does nothing.
pub async fn an_empty_publish_is_harmless(broker: Arc<dyn Broker>) {
    broker.publish(&[]).await.expect("publish");
    let mut reader = open(&broker, GROUP, "one").await;
    ack(&broker, GROUP, &[]).await;
    nothing(&mut reader).await;
}

/// A read returns at most `count` entries, and the rest later.
pub async fn a_read_gives_no_more_than_asked(broker: Arc<dyn Broker>) {
    publish(&broker, 0..10).await;
    let mut reader = open(&broker, GROUP, "one").await;
    let mut all = Vec::new();
    while all.len() < 10 {
        let some = reader.read(3, PATIENCE).await.expect("read");
        assert!((1..=3).contains(&some.len()));
        all.extend(some);
    }
    assert_eq!(numbers(&all), (0..10).collect::<Vec<_>>());
}

/// A read of an empty stream waits as long as it was told and returns an empty list.
pub async fn an_empty_read_waits_and_returns(broker: Arc<dyn Broker>) {
    let mut reader = open(&broker, GROUP, "one").await;
    waits_in_vain(&mut reader).await;
}

/// A read that waits returns when something comes, long before its time is over.
pub async fn a_waiting_read_sees_what_is_published(broker: Arc<dyn Broker>) {
    let mut readers = vec![open(&broker, GROUP, "one").await, open(&broker, OTHER_GROUP, "one").await];
    see_at_once(&broker, &mut readers).await;
}

/// A group that is opened for the first time begins at the beginning.
pub async fn a_new_group_gets_what_was_published_before(broker: Arc<dyn Broker>) {
    publish(&broker, 0..5).await;
    let mut reader = open(&broker, GROUP, "one").await;
    assert_eq!(numbers(&collect(&mut reader, 5).await), [0, 1, 2, 3, 4]);
}

/// Each group gets every entry; an entry that one acknowledges is still there for the other.
pub async fn two_groups_get_every_entry_each(broker: Arc<dyn Broker>) {
    let mut one = open(&broker, GROUP, "one").await;
    let mut two = open(&broker, OTHER_GROUP, "one").await;
    publish(&broker, 0..20).await;
    let entries = collect(&mut one, 20).await;
    ack(&broker, GROUP, &entries).await;
    assert_eq!(numbers(&entries), (0..20).collect::<Vec<_>>());
    assert_eq!(numbers(&collect(&mut two, 20).await), (0..20).collect::<Vec<_>>());
    assert_eq!((backlog(&broker, GROUP).await, backlog(&broker, OTHER_GROUP).await), (0, 20));
}

/// An acknowledged entry is not given to the next owner.
pub async fn acknowledged_entries_do_not_come_again(broker: Arc<dyn Broker>) {
    publish(&broker, 0..10).await;
    let mut one = open(&broker, GROUP, "one").await;
    let entries = collect(&mut one, 10).await;
    ack(&broker, GROUP, &entries).await;
    ack(&broker, GROUP, &entries).await;
    nothing(&mut one).await;
    drop(one);
    nothing(&mut open(&broker, GROUP, "two").await).await;
    // Under its former name too.
    nothing(&mut open(&broker, GROUP, "one").await).await;
}

/// Unacknowledged entries come first to the next owner, in order, then the new ones.
pub async fn the_next_owner_gets_the_unacknowledged_first(broker: Arc<dyn Broker>) {
    publish(&broker, 0..10).await;
    let mut one = open(&broker, GROUP, "one").await;
    let entries = collect(&mut one, 6).await;
    ack(&broker, GROUP, &[entries[4].clone(), entries[1].clone()]).await;
    drop(one);
    for consumer in ["two", "one"] {
        let mut next = open(&broker, GROUP, consumer).await;
        assert_eq!(numbers(&collect(&mut next, 8).await), [0, 2, 3, 5, 6, 7, 8, 9]);
        nothing(&mut next).await;
    }
}

/// The same in small steps, with new entries coming meanwhile.
pub async fn the_next_owner_reads_one_by_one_in_order(broker: Arc<dyn Broker>) {
    publish(&broker, 0..5).await;
    let mut one = open(&broker, GROUP, "one").await;
    let entries = collect(&mut one, 5).await;
    ack(&broker, GROUP, &entries[2..3]).await;
    let mut two = open(&broker, GROUP, "two").await;
    publish(&broker, 5..8).await;
    let mut read = Vec::new();
    for _ in 0..7 {
        let entries = two.read(1, PATIENCE).await.expect("read");
        read.extend(numbers(&entries));
        ack(&broker, GROUP, &entries).await;
    }
    assert_eq!(read, [0, 1, 3, 4, 5, 6, 7]);
    nothing(&mut two).await;
    assert_eq!(backlog(&broker, GROUP).await, 0);
}

/// An owner that does not know yet that it was replaced may still read (or be refused), but its entries come to the
/// present owner all the same.
pub async fn a_former_owner_hides_nothing_from_the_next(broker: Arc<dyn Broker>) {
    let mut former = open(&broker, GROUP, "one").await;
    nothing(&mut former).await;
    let mut waiting = JoinSet::new();
    waiting.spawn(async move {
        // It may still be waiting when the next owner comes.
        let first = former.read(10, Duration::from_millis(300)).await;
        let second = former.read(10, SHORT).await;
        drop((first, second));
    });
    let mut present = open(&broker, GROUP, "two").await;
    nothing(&mut present).await;
    for round in 0..10 {
        publish(&broker, round..round + 1).await;
        assert_eq!(numbers(&collect(&mut present, 1).await), [round]);
    }
    waiting.join_all().await;
    publish(&broker, 10..12).await;
    assert_eq!(numbers(&collect(&mut present, 2).await), [10, 11]);
}

/// Publishers of different keys run at once; each key keeps its order.
pub async fn one_key_never_reorders(broker: Arc<dyn Broker>) {
    let mut tasks = JoinSet::new();
    for publisher in 0..4 {
        let (broker, key) = (Arc::clone(&broker), sibling(&broker, publisher));
        tasks.spawn(async move {
            for batch in 0..50 {
                let entries: Vec<_> = (0..10).map(|n| entry(&key, batch * 10 + n)).collect();
                broker.publish(&entries).await.expect("publish");
            }
        });
    }
    let mut reader = open(&broker, GROUP, "one").await;
    let entries = collect(&mut reader, 2_000).await;
    tasks.join_all().await;
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &entries {
        let next = keys.entry(&entry.key).or_default();
        assert_eq!(entry.payload, next.to_string(), "{}", entry.key);
        *next += 1;
    }
    assert_eq!(keys.into_values().collect::<Vec<_>>(), [500; 4]);
}

/// A payload of a mebibyte comes whole, between small ones.
pub async fn large_payloads_survive(broker: Arc<dyn Broker>) {
    let large = "0123456789abcdef".repeat(65_536);
    broker.publish(&[entry("k", 1), entry("k", &large), entry("k", 2)]).await.expect("publish");
    let mut reader = open(&broker, GROUP, "one").await;
    let entries = collect(&mut reader, 3).await;
    assert_eq!((entries[0].payload.as_str(), entries[2].payload.as_str()), ("1", "2"));
    assert!(entries[1].payload == large, "{} bytes came back", entries[1].payload.len());
}

/// Keys and payloads are any text.
pub async fn any_text_survives(broker: Arc<dyn Broker>) {
    let key = "k";
    let texts = ["", "{}", "{\"body\":\"Olá, João 👋🏽\"}", "'; --", "\u{feff}\r\n\t\u{7f}é\u{301}", "payload"];
    let entries: Vec<_> = texts.iter().map(|text| entry(key, text)).collect();
    broker.publish(&entries).await.expect("publish");
    let odd = "ação:👋 {0}";
    broker.publish(&[entry(odd, "odd key")]).await.expect("publish");
    let mut reader = open(&broker, GROUP, "one").await;
    let home = partition(&broker, odd) == partition(&broker, key);
    let read = collect(&mut reader, texts.len()).await;
    assert_eq!(read.iter().map(|e| e.payload.as_str()).collect::<Vec<_>>(), texts);
    if !home {
        reader = broker.open(partition(&broker, odd), GROUP, "one").await.expect("open");
    }
    assert_eq!(collect(&mut reader, 1).await[0].key, odd);
}

/// Acknowledging an unknown id, or a text that is not an id at all, changes nothing.
pub async fn unknown_ids_are_acknowledged_harmlessly(broker: Arc<dyn Broker>) {
    publish(&broker, 0..3).await;
    let mut reader = open(&broker, GROUP, "one").await;
    let entries = collect(&mut reader, 2).await;
    let stream = partition(&broker, "k");
    for group in [GROUP, "never-opened"] {
        for id in ["", "0-1", "999999999999999999", "9999999999999-9", "-1", "no id"] {
            broker.ack(stream, group, &[id.to_owned()]).await.expect("ack");
        }
    }
    let id = entries[0].id.clone();
    broker.ack(stream, "never-opened", std::slice::from_ref(&id)).await.expect("ack");
    assert_eq!(backlog(&broker, GROUP).await, 3);
    broker.ack(stream, GROUP, &[id.clone(), id]).await.expect("ack");
    assert_eq!(backlog(&broker, GROUP).await, 2);
    drop(reader);
    let mut next = open(&broker, GROUP, "two").await;
    assert_eq!(numbers(&collect(&mut next, 2).await), [1, 2]);
}

/// The backlog is the entries that the group has not acknowledged, read or not.
pub async fn the_backlog_counts_what_is_unacknowledged(broker: Arc<dyn Broker>) {
    let mut reader = open(&broker, GROUP, "one").await;
    assert_eq!(backlog(&broker, GROUP).await, 0);
    publish(&broker, 0..5).await;
    assert_eq!(backlog(&broker, GROUP).await, 5);
    let entries = collect(&mut reader, 3).await;
    assert_eq!(backlog(&broker, GROUP).await, 5);
    ack(&broker, GROUP, &entries[1..]).await;
    assert_eq!(backlog(&broker, GROUP).await, 3);
    let rest = collect(&mut reader, 2).await;
    ack(&broker, GROUP, &rest).await;
    assert_eq!(backlog(&broker, GROUP).await, 1);
    ack(&broker, GROUP, &entries[..1]).await;
    assert_eq!(backlog(&broker, GROUP).await, 0);
}

/// Ten thousand entries of fifty keys, acknowledged in random order, with two take-overs on the way:
/// none is lost, none is given to a next owner after it was acknowledged, no key reorders.
pub async fn nothing_is_lost_through_a_take_over(broker: Arc<dyn Broker>) {
    const COUNT: usize = 10_000;
    let keys: Vec<_> = (0..50).map(|n| sibling(&broker, n)).collect();
    let mut tasks = JoinSet::new();
    let publisher = Arc::clone(&broker);
    tasks.spawn(async move {
        for batch in 0..COUNT / 100 {
            let numbers = batch * 100..(batch + 1) * 100;
            let entries: Vec<_> = numbers.map(|n| entry(&keys[n % keys.len()], n)).collect();
            publisher.publish(&entries).await.expect("publish");
        }
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut acked: BTreeSet<usize> = BTreeSet::new();
    for (owner, target) in [("one", COUNT / 3), ("two", 2 * COUNT / 3), ("three", COUNT)] {
        let mut reader = open(&broker, GROUP, owner).await;
        let mut waiting: Vec<Entry> = Vec::new();
        let mut last: Option<usize> = None;
        while acked.len() < target {
            if acked.len() + waiting.len() < COUNT {
                let read = reader.read(128, PATIENCE).await.expect("read");
                assert!(!read.is_empty(), "only {} of {COUNT} came", acked.len() + waiting.len());
                for entry in read {
                    let number: usize = entry.payload.parse().expect("a number");
                    // One publisher: the order of a key is the order of the numbers.
                    assert!(last < Some(number), "{number} after {last:?}");
                    assert!(!acked.contains(&number), "{number} was acknowledged");
                    last = Some(number);
                    waiting.push(entry);
                }
            }
            // Half of the waiting entries, drawn at random, so that gaps stay behind at the take-over.
            let mut batch = Vec::new();
            for _ in 0..waiting.len().div_ceil(2) {
                let entry = waiting.swap_remove(random.below(waiting.len()));
                acked.insert(entry.payload.parse().expect("a number"));
                batch.push(entry);
            }
            ack(&broker, GROUP, &batch).await;
        }
    }
    tasks.join_all().await;
    assert_eq!(acked.len(), COUNT);
    assert_eq!(backlog(&broker, GROUP).await, 0);
    nothing(&mut open(&broker, GROUP, "four").await).await;
}

/// Repeatable numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("below a usize")
    }
}
