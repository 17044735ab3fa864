//! A partition that is left while much waits.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::lease::Leases;
use flowsdk_core::stream::broker::{Broker, Entry, NewEntry};
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, Subscription, Verdict, Work,
};
use flowsdk_core::stream::dead_letter::{DeadLetterSink, FailedEntry};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_core::time::SystemClock;
use flowsdk_store::memory::{MemoryBroker, MemoryKeyValue};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const ENTRIES: usize = 100;
const BATCH: usize = 10;

/// Takes as long for each batch as it is told.
struct Slow {
    each: Duration,
    begun: watch::Sender<usize>,
}

#[async_trait]
impl BatchHandler for Slow {
    type Event = ();
    type Output = ();

    fn parse(&self, _: TopicName, _: &Entry) -> Result<(), String> {
        Ok(())
    }

    async fn handle(&self, batch: &[Work<(), ()>]) -> Vec<Verdict<()>> {
        self.begun.send_modify(|begun| *begun += batch.len());
        tokio::time::sleep(self.each).await;
        batch.iter().map(|_| Verdict::Done(())).collect()
    }
}

/// Nothing fails here.
#[derive(Debug)]
struct NoLetters;

#[async_trait]
impl DeadLetterSink for NoLetters {
    async fn record(&self, entry: &FailedEntry) -> Result<(), StorageError> {
        panic!("{entry:?}")
    }
}

/// Leaves a partition in the first of its batches. Returns how many entries are left to the next owner, and how long
/// leaving took.
async fn leave(each: Duration) -> (u64, Duration) {
    let broker: Arc<dyn Broker> = Arc::new(MemoryBroker::new(1));
    let handler = Arc::new(Slow { each, begun: watch::Sender::new(0) });
    let (dispatcher, submitter) = Dispatcher::new(
        Arc::clone(&handler),
        Some(Arc::clone(&broker)),
        Arc::new(NoLetters),
        Arc::new(SystemClock),
        ConsumerConfig { max_batch: BATCH, ..ConsumerConfig::named("leaving") },
    );
    let kv = Arc::new(MemoryKeyValue::new(Arc::new(SystemClock)));
    let leases = Leases::new(kv, "one", Duration::from_secs(60));
    let (topic, index) = (TopicName::Flow, 0);
    let subscription = Subscription { topics: &[TopicName::Flow], group: GROUPS[0], index };
    let worker =
        PartitionWorker::new(Arc::clone(&handler), Arc::clone(&broker), leases, submitter, subscription);
    let entry = |n: usize| NewEntry { topic, key: n.to_string(), payload: String::new() };
    broker.publish(&(0..ENTRIES).map(entry).collect::<Vec<_>>()).await.expect("published");
    let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
    tasks.spawn(worker.run(stop.clone()));
    tasks.spawn(dispatcher.run(CancellationToken::new()));
    handler.begun.subscribe().wait_for(|begun| *begun > 0).await.expect("it begins");
    // Read and handed in, all of them.
    tokio::time::sleep(each / 2).await;
    stop.cancel();
    let left = tokio::time::Instant::now();
    while tasks.join_next().await.is_some() {}
    let took = left.elapsed();
    (broker.backlog(StreamPartition { topic, index }, GROUPS[0]).await.expect("a backlog"), took)
}

#[tokio::test(start_paused = true)]
async fn what_is_done_soon_is_finished_first() {
    let (left, took) = leave(Duration::from_millis(50)).await;
    assert_eq!(left, 0);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn what_would_take_long_is_left_to_the_next_owner() {
    let (left, took) = leave(Duration::from_millis(400)).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    let begun = ENTRIES - usize::try_from(left).expect("few");
    assert!((BATCH * 2..=BATCH * 4).contains(&begun), "{begun}");
}
