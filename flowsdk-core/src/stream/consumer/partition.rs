//! Holds the lease of a partition and reads it.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{BatchHandler, Origin, Submitter, Task, Unreadable, Work};
use crate::kv::KeyValue;
use crate::lease::Lease;
use crate::stream::broker::{Broker, Entry, StreamReader};
use crate::stream::topic::{StreamPartition, TopicName};

/// Entries asked for at once.
const READ_COUNT: usize = 128;
/// How long a read waits; also how late a reader notices that it must stop.
const READ_WAIT: Duration = Duration::from_millis(500);
/// Pause after a broker error.
const ERROR_PAUSE: Duration = Duration::from_millis(500);

/// What a worker subscribes to: the same partition of some streams, under one lease, so that all their
/// entries of a key go through one lane.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// The streams.
    pub topics: &'static [TopicName],
    /// The consumer group.
    pub group: &'static str,
    /// The partition.
    pub index: u32,
    /// Name of this process among the owners.
    pub owner: String,
    /// How long a dead owner blocks the partition.
    pub lease_ttl: Duration,
}

/// Reads one partition for a consumer while it holds the lease; waits for it otherwise.
pub struct PartitionWorker<H: BatchHandler> {
    handler: Arc<H>,
    broker: Arc<dyn Broker>,
    kv: Arc<dyn KeyValue>,
    submitter: Submitter<H>,
    subscription: Subscription,
}

impl<H: BatchHandler> PartitionWorker<H> {
    /// A worker that feeds `submitter`'s consumer.
    pub fn new(
        handler: Arc<H>,
        broker: Arc<dyn Broker>,
        kv: Arc<dyn KeyValue>,
        submitter: Submitter<H>,
        subscription: Subscription,
    ) -> Self {
        Self { handler, broker, kv, submitter, subscription }
    }

    /// Runs until `stop`, then waits until what was read is done, and releases the lease.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            match self.acquire().await {
                Ok(Some(lease)) => self.own(lease, &stop).await,
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "no lease: the key-value store is away"),
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(self.subscription.lease_ttl / 5) => {}
            }
        }
    }

    async fn acquire(&self) -> Result<Option<Lease>, crate::kv::KeyValueError> {
        let s = &self.subscription;
        let name = format!("{}:{}", s.group, s.index);
        Lease::acquire(Arc::clone(&self.kv), &name, &s.owner, s.lease_ttl).await
    }

    /// Reads while the lease holds.
    async fn own(&self, lease: Lease, stop: &CancellationToken) {
        let s = &self.subscription;
        tracing::info!(group = s.group, partition = s.index, owner = s.owner, "partition taken");
        let alive = CancellationToken::new();
        let reading = stop.child_token();
        let in_flight = TaskTracker::new();
        let mut readers = JoinSet::new();
        for &topic in s.topics {
            let stream = StreamPartition { topic, index: s.index };
            match self.broker.open(stream, s.group, &s.owner).await {
                Ok(reader) => {
                    let feed = Feed {
                        handler: Arc::clone(&self.handler),
                        submitter: self.submitter.clone(),
                        stream,
                        group: s.group,
                        alive: alive.clone(),
                        reading: reading.clone(),
                        in_flight: in_flight.clone(),
                    };
                    readers.spawn(feed.run(reader));
                }
                Err(error) => {
                    tracing::warn!(%error, stream = topic.as_str(), "a stream cannot be opened");
                    reading.cancel();
                }
            }
        }
        in_flight.close();
        let drained = async {
            while readers.join_next().await.is_some() {}
            in_flight.wait().await;
        };
        // When it is lost, nothing of this ownership runs into the next.
        let held = lease.hold_while(&alive, drained).await;
        tracing::info!(group = s.group, partition = s.index, held, "partition left");
        if held && let Err(error) = lease.release().await {
            tracing::warn!(%error, "a lease runs out by itself");
        }
    }
}

/// One reader task.
struct Feed<H: BatchHandler> {
    handler: Arc<H>,
    submitter: Submitter<H>,
    stream: StreamPartition,
    group: &'static str,
    alive: CancellationToken,
    reading: CancellationToken,
    in_flight: TaskTracker,
}

impl<H: BatchHandler> Feed<H> {
    fn stopped(&self) -> bool {
        self.alive.is_cancelled() || self.reading.is_cancelled()
    }

    /// Reads until told to stop. A read is never cancelled, because what it took would be lost.
    async fn run(self, mut reader: Box<dyn StreamReader>) {
        while !self.stopped() {
            match reader.read(READ_COUNT, READ_WAIT).await {
                Ok(entries) => {
                    for entry in entries {
                        if !self.hand_in(entry).await {
                            return;
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, stream = self.stream.topic.as_str(), "a stream cannot be read");
                    tokio::select! {
                        () = tokio::time::sleep(ERROR_PAUSE) => {}
                        () = self.reading.cancelled() => {}
                        () = self.alive.cancelled() => {}
                    }
                }
            }
        }
    }

    /// Hands one entry to the dispatcher; `false` when it has gone.
    async fn hand_in(&self, entry: Entry) -> bool {
        let origin = Origin {
            stream: self.stream,
            group: self.group,
            id: entry.id.clone(),
            alive: self.alive.clone(),
            _in_flight: self.in_flight.token(),
        };
        let topic = self.stream.topic;
        let task = match self.handler.parse(topic, &entry) {
            Ok(event) => Task::Event(Arc::new(Work::new(entry.key, event, Some(origin), None))),
            Err(reason) => {
                tracing::error!(stream = topic.as_str(), entry = entry.id, reason, "an entry cannot be read");
                Task::Unreadable(Box::new(Unreadable { entry, reason, origin, attempts: 0 }))
            }
        };
        self.submitter.inbox().send(task).await.is_ok()
    }
}
