//! The adapters over Redis.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry, Tails};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::{self, KeyValueUnderTest};
use flowsdk_core::time::{Clock as _, SystemClock};
use flowsdk_store::redis::{self, Redis, TrimPolicy};

const STREAM: StreamPartition = StreamPartition { topic: TopicName::Flow, index: 0 };

/// A prefix of its own for each test.
fn prefix() -> String {
    static TESTS: AtomicU32 = AtomicU32::new(0);
    let (now, process) = (SystemClock.now().as_millis(), std::process::id());
    format!("test:{now}:{process}:{}:", TESTS.fetch_add(1, Ordering::Relaxed))
}

async fn server_with(prefix: String) -> Option<Redis> {
    let url = std::env::var("FLOWSDK_TEST_REDIS").ok()?;
    let server = redis::connect(&url).await.expect("the test server answers");
    Some(server.with_prefix(prefix))
}

/// The test server, under a prefix of its own for each test.
pub(crate) async fn server() -> Option<Redis> {
    server_with(prefix()).await
}

async fn broker() -> Option<Arc<dyn Broker>> {
    Some(Arc::new(server().await?.broker(4)))
}

async fn tails() -> Option<Arc<dyn Tails>> {
    Some(Arc::new(server().await?.broker(4)))
}

async fn broker_of_one_partition() -> Option<Arc<dyn Broker>> {
    Some(Arc::new(server().await?.broker(1)))
}

async fn key_values() -> Option<KeyValueUnderTest> {
    Some(KeyValueUnderTest::real(Arc::new(server().await?.key_values())))
}

mod streams {
    flowsdk_core::broker_conformance!(super::broker);
}

mod tails {
    flowsdk_core::tail_conformance!(super::tails);
}

mod streams_of_one_partition {
    flowsdk_core::broker_conformance!(super::broker_of_one_partition);
}

mod keys {
    flowsdk_core::key_value_conformance!(super::key_values);
}

mod leases {
    flowsdk_core::lease_conformance!(super::key_values);
}

fn entries(count: usize) -> Vec<NewEntry> {
    let entry = |n| NewEntry { topic: TopicName::Flow, key: "k".to_owned(), payload: format!("{n}") };
    (0..count).map(entry).collect()
}

#[test]
fn a_former_owner_is_refused_and_the_present_one_is_not() {
    testkit::run("a_former_owner_is_refused", server, |server: Redis| async move {
        let broker = server.broker(1);
        let mut former = broker.open(STREAM, "g", "one").await.expect("open");
        broker.publish(&entries(2)).await.expect("publish");
        assert_eq!(former.read(1, Duration::ZERO).await.expect("read").len(), 1);
        let mut present = broker.open(STREAM, "g", "one").await.expect("open");
        let refused = former.read(1, Duration::ZERO).await;
        assert!(matches!(refused, Err(BrokerError::Unavailable(_))), "{refused:?}");
        assert_eq!(present.read(2, Duration::ZERO).await.expect("read").len(), 1);
        assert_eq!(present.read(2, Duration::ZERO).await.expect("read").len(), 1);
    });
}

#[test]
fn trimming_leaves_what_a_group_needs() {
    testkit::run("trimming_leaves_what_a_group_needs", server, |server: Redis| async move {
        let broker = server.broker(1);
        let mut slow = broker.open(STREAM, "slow", "c").await.expect("open");
        let mut quick = broker.open(STREAM, "quick", "c").await.expect("open");
        broker.publish(&entries(1_000)).await.expect("publish");
        let at_once = TrimPolicy { keep: Duration::ZERO, without_groups: 0, ..TrimPolicy::default() };
        let read = quick.read(1_000, Duration::ZERO).await.expect("read");
        let ids: Vec<_> = read.into_iter().map(|entry| entry.id).collect();
        broker.ack(STREAM, "quick", &ids).await.expect("ack");
        assert_eq!(broker.trim(at_once).await.expect("trim"), 0);

        // The slow group is done with all but the 501st.
        let mut all = Vec::new();
        while all.len() < 1_000 {
            all.extend(slow.read(1_000, Duration::ZERO).await.expect("read"));
        }
        let left = all.remove(500);
        let ids: Vec<_> = all.into_iter().map(|entry| entry.id).collect();
        broker.ack(STREAM, "slow", &ids).await.expect("ack");
        assert_eq!(broker.trim(TrimPolicy::default()).await.expect("trim"), 0, "they are young");
        let gone = broker.trim(at_once).await.expect("trim");
        assert!((300..=500).contains(&gone), "{gone} went");
        let mut next = broker.open(STREAM, "slow", "d").await.expect("open");
        assert_eq!(next.read(10, Duration::ZERO).await.expect("read"), [left]);
        assert_eq!(broker.backlog(STREAM, "slow").await.expect("backlog"), 1);
        assert_eq!(broker.backlog(STREAM, "quick").await.expect("backlog"), 0);
    });
}

/// Redis forgets what was read when it reads its append-only file: the lag that it tells is too large from then on.
#[test]
fn a_backlog_is_counted_where_the_server_miscounts() {
    let prefix = prefix();
    let key = format!("{prefix}{}", STREAM.name(1));
    let make = || server_with(prefix.clone());
    testkit::run("a_backlog_is_counted", make, |server: Redis| async move {
        let broker = server.broker(1);
        assert_eq!(broker.last_read(STREAM, "g").await.expect("no stream"), None);
        let mut reader = broker.open(STREAM, "g", "one").await.expect("open");
        broker.publish(&entries(3)).await.expect("publish");
        let read = reader.read(2, Duration::ZERO).await.expect("read");
        let ids: Vec<_> = read.into_iter().map(|entry| entry.id).collect();
        assert_eq!(broker.last_read(STREAM, "g").await.expect("read").as_ref(), Some(&ids[1]));
        assert_eq!(broker.last_read(STREAM, "another").await.expect("no group"), None);
        broker.ack(STREAM, "g", &ids).await.expect("ack");
        let url = std::env::var("FLOWSDK_TEST_REDIS").expect("the address");
        let client = ::redis::Client::open(url).expect("an address");
        let mut connection = client.get_multiplexed_async_connection().await.expect("a connection");
        let mut forget = ::redis::cmd("XGROUP");
        forget.arg("SETID").arg(&key).arg("g").arg(&ids[1]).arg("ENTRIESREAD").arg(0);
        forget.exec_async(&mut connection).await.expect("it is set");
        assert_eq!(broker.backlog(STREAM, "g").await.expect("backlog"), 1);
    });
}

#[test]
fn a_stream_without_groups_is_bounded_by_trimming() {
    testkit::run("a_stream_without_groups_is_bounded", server, |server: Redis| async move {
        let broker = server.broker(1);
        broker.publish(&entries(1_000)).await.expect("publish");
        let policy = TrimPolicy { without_groups: 100, ..TrimPolicy::default() };
        let gone = broker.trim(policy).await.expect("trim");
        assert!((700..=900).contains(&gone), "{gone} went");
    });
}

#[test]
fn a_stream_that_tails_follow_is_trimmed_by_age() {
    testkit::run("a_stream_that_tails_follow", server, |server: Redis| async move {
        let broker = server.broker(1);
        broker.publish(&entries(1_000)).await.expect("publish");
        let policy = TrimPolicy { without_groups: 100, followed: &[STREAM.topic], ..TrimPolicy::default() };
        assert_eq!(broker.trim(policy).await.expect("trim"), 0, "they are young");
        let gone = broker.trim(TrimPolicy { keep: Duration::ZERO, ..policy }).await.expect("trim");
        assert!((700..=1_000).contains(&gone), "{gone} went");
    });
}

#[test]
fn the_server_answers_a_ping() {
    testkit::run("the_server_answers_a_ping", server, |server: Redis| async move {
        server.ping().await.expect("pong");
    });
}
