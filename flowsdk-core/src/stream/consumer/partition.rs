//! Holds the lease of a partition and reads it.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::work::{Item, Origin, Ownership, Task, Unreadable};
use super::{BatchHandler, Submitter};
use crate::lease::{Lease, Leases};
use crate::stream::broker::{Broker, Entry, StreamReader};
use crate::stream::lanes::Class;
use crate::stream::topic::{StreamPartition, TopicName};

/// Entries asked for at once.
const READ_COUNT: usize = 128;
/// How long a read waits; also how late a reader notices that it must stop.
const READ_WAIT: Duration = Duration::from_millis(500);
/// How long what was read may still begin when the partition is left in order. Those who wait for the next owner wait
/// for as long.
const LEAVING: Duration = Duration::from_secs(1);
/// Pause after a broker error.
const ERROR_PAUSE: Duration = Duration::from_millis(500);

/// The subscription of a worker: the same partition of some streams, under one lease, so that all their entries of
/// a key go through one lane.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Subscription {
    /// The streams, all read under one lease.
    pub topics: &'static [TopicName],
    pub group: &'static str,
    /// The index of the partition, from 0.
    pub index: u32,
}

/// Reads one partition for a consumer while it holds the lease; waits for it otherwise.
pub struct PartitionWorker<H: BatchHandler> {
    handler: Arc<H>,
    broker: Arc<dyn Broker>,
    leases: Leases,
    submitter: Submitter<H>,
    subscription: Subscription,
}

impl<H: BatchHandler> PartitionWorker<H> {
    /// Creates a worker that feeds `submitter`'s consumer.
    pub fn new(
        handler: Arc<H>,
        broker: Arc<dyn Broker>,
        leases: Leases,
        submitter: Submitter<H>,
        subscription: Subscription,
    ) -> Self {
        Self { handler, broker, leases, submitter, subscription }
    }

    /// Runs until `stop`, then waits until the entries read are done, and releases the lease. After a second it waits only
    /// for those that have begun, and leaves the others to the next owner.
    pub async fn run(self, stop: CancellationToken) {
        let name = format!("{}:{}", self.subscription.group, self.subscription.index);
        while !stop.is_cancelled() {
            let Some(lease) = self.leases.take(&name, &stop).await else { return };
            self.own(lease, &stop).await;
            // Not at once: the stream may not have opened.
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(self.leases.period()) => {}
            }
        }
    }

    /// Reads while the lease holds.
    async fn own(&self, lease: Lease, stop: &CancellationToken) {
        let (s, owner) = (&self.subscription, self.leases.owner());
        tracing::info!(group = s.group, partition = s.index, owner, "partition taken");
        let alive = CancellationToken::new();
        let (reading, beginning) = (stop.child_token(), CancellationToken::new());
        let ownership = Arc::new(Ownership { alive: alive.clone(), reading, beginning: beginning.clone() });
        let in_flight = TaskTracker::new();
        let mut readers = JoinSet::new();
        for &topic in s.topics {
            let stream = StreamPartition { topic, index: s.index };
            match self.broker.open(stream, s.group, owner).await {
                Ok(reader) => {
                    let feed = Feed {
                        handler: Arc::clone(&self.handler),
                        submitter: self.submitter.clone(),
                        stream,
                        group: s.group,
                        ownership: Arc::clone(&ownership),
                        in_flight: in_flight.clone(),
                    };
                    readers.spawn(feed.run(reader));
                }
                Err(error) => {
                    tracing::warn!(%error, stream = topic.name(), "a stream cannot be opened");
                    ownership.reading.cancel();
                }
            }
        }
        in_flight.close();
        let drained = async {
            while readers.join_next().await.is_some() {}
            // Entries that wait for a moment are not waited for.
            self.submitter.left.notify_one();
            if tokio::time::timeout(LEAVING, in_flight.wait()).await.is_err() {
                beginning.cancel();
                self.submitter.left.notify_one();
                in_flight.wait().await;
            }
        };
        // When it is lost, nothing of this ownership runs into the next.
        let held = lease.hold_while(&alive, drained).await;
        tracing::info!(group = s.group, partition = s.index, held, "partition left");
        if held && let Err(error) = lease.release().await {
            tracing::warn!(%error, "a lease runs out by itself");
        }
    }
}

/// The reader task of one stream.
struct Feed<H: BatchHandler> {
    handler: Arc<H>,
    submitter: Submitter<H>,
    stream: StreamPartition,
    group: &'static str,
    ownership: Arc<Ownership>,
    in_flight: TaskTracker,
}

impl<H: BatchHandler> Feed<H> {
    /// Reads until told to stop. A read is never cancelled, because its entries would be lost.
    async fn run(self, mut reader: Box<dyn StreamReader>) {
        while !self.ownership.is_left() {
            match reader.read(READ_COUNT, READ_WAIT).await {
                Ok(entries) => {
                    for entry in entries {
                        // An entry that is not handed in stays unacknowledged, for the next owner.
                        let handed_in = tokio::select! {
                            biased;
                            handed_in = self.hand_in(entry) => handed_in,
                            () = self.ownership.left() => false,
                        };
                        if !handed_in {
                            return;
                        }
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, stream = self.stream.topic.name(), "a stream cannot be read");
                    tokio::select! {
                        () = tokio::time::sleep(ERROR_PAUSE) => {}
                        () = self.ownership.left() => {}
                    }
                }
            }
        }
    }

    /// Hands one entry to the dispatcher, when it has room; returns `false` when the dispatcher has gone.
    async fn hand_in(&self, entry: Entry) -> bool {
        let origin = Origin {
            stream: self.stream,
            group: self.group,
            id: entry.id.clone(),
            ownership: Arc::clone(&self.ownership),
            _in_flight: self.in_flight.token(),
        };
        let topic = self.stream.topic;
        let task = match self.handler.parse(topic, &entry) {
            Ok(event) => {
                let lower = self.handler.turn(&event).class > Class::LIVE;
                let permit = if lower { self.submitter.room().await } else { None };
                let item = Item::new(entry.key, event);
                let payload = entry.payload;
                Task::Event(Box::new(Item { origin: Some(origin), payload, _permit: permit, ..item }))
            }
            Err(reason) => {
                tracing::error!(stream = topic.name(), entry = entry.id, reason, "an entry cannot be read");
                let unreadable = Unreadable { entry, reason, origin, attempts: 0, failed_at: None };
                Task::Unreadable(Box::new(unreadable))
            }
        };
        self.submitter.inbox.send(task).await.is_ok()
    }
}
