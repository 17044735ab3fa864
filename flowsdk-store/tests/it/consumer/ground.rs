//! Streams, leases and dead letters, and the processes that come and go over them.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::Cuids;
use flowsdk_core::kv::KeyValue;
use flowsdk_core::lease::{Leases, lease_key};
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::consumer::{ConsumerConfig, Dispatcher, Each, PartitionWorker, Subscription};
use flowsdk_core::stream::dead_letter::DeadLetters;
use flowsdk_core::stream::lanes::Coalesce;
use flowsdk_core::stream::relay::{Relay, RelayOptions};
use flowsdk_core::stream::topic::{StreamPartition, Topic as _, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_core::time::{ManualClock, SystemClock};
use flowsdk_store::redis::Redis;
use flowsdk_store::sql::{SqlBroker, SqlKeyValue, SqlStore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::work::{Desk, Notes, PATIENCE};

const GROUP: &str = GROUPS[0];
const TOPICS: &[TopicName] = &[Notes::NAME];
const STREAM: StreamPartition = StreamPartition { topic: Notes::NAME, index: 0 };
const TTL: Duration = Duration::from_millis(150);

pub(super) struct Ground {
    pub(super) broker: Arc<dyn Broker>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) letters: Arc<DeadLetters<SqlStore>>,
    /// The clock of the leases, unless they are on a server's.
    leases: Option<ManualClock>,
    /// Moves the outbox to Redis.
    relay: JoinSet<()>,
    stop: CancellationToken,
}

fn context() -> OpContext {
    OpContext::new(Arc::new(SystemClock), Arc::new(Cuids::new(SystemClock)))
}

impl Ground {
    pub(super) fn in_database(store: SqlStore) -> Self {
        let clock = ManualClock::at(1_795_085_820_050);
        Self {
            kv: Arc::new(SqlKeyValue::new(store.clone(), Arc::new(clock.clone()))),
            letters: Arc::new(DeadLetters::new(Arc::new(store.clone()), context())),
            broker: Arc::new(SqlBroker::new(store)),
            leases: Some(clock),
            relay: JoinSet::new(),
            stop: CancellationToken::new(),
        }
    }

    pub(super) fn over_redis(store: SqlStore, redis: &Redis) -> Self {
        let (broker, stop): (Arc<dyn Broker>, _) = (Arc::new(redis.broker(1)), CancellationToken::new());
        let source = Arc::new(SqlBroker::outbox(store.clone()));
        let relay = Relay::new(source, Arc::clone(&broker), STREAM, "relay", RelayOptions::default());
        let (mut tasks, relaying) = (JoinSet::new(), stop.clone());
        tasks.spawn(async move { relay.run(&relaying).await });
        Self {
            broker,
            kv: Arc::new(redis.key_values()),
            letters: Arc::new(DeadLetters::new(Arc::new(store), context())),
            leases: None,
            relay: tasks,
            stop,
        }
    }

    /// A process that asks for the partition.
    pub(super) fn process(&self, name: String, desk: Desk) -> Process {
        let config = ConsumerConfig {
            max_attempts: 3,
            parallel: 4,
            capacity: 64,
            backoff: Duration::from_millis(1),
            coalesce: Some(Coalesce {
                quiet: Duration::from_millis(2),
                longest: Duration::from_millis(6),
                most: 4,
            }),
            ..ConsumerConfig::named("demonstration")
        };
        let handler = Arc::new(Each::new(desk));
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::clone(&handler),
            Some(Arc::clone(&self.broker)),
            Arc::clone(&self.letters) as _,
            Arc::new(SystemClock),
            config,
        );
        let (topics, index) = (TOPICS, STREAM.index);
        let subscription = Subscription { topics, group: GROUP, index };
        let (broker, leases) = (Arc::clone(&self.broker), Leases::new(Arc::clone(&self.kv), name, TTL));
        let worker = PartitionWorker::new(handler, broker, leases, submitter, subscription);
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(worker.run(stop.clone()));
        tasks.spawn(dispatcher.run(CancellationToken::new()));
        Process { stop, tasks }
    }

    /// Takes the partition from its owner, who learns of it later.
    pub(super) async fn lose_lease(&self) {
        match &self.leases {
            Some(clock) => clock.advance(TTL * 2),
            None => {
                let lease = lease_key(&format!("{GROUP}:{}", STREAM.index));
                self.kv.delete(lease.as_str()).await.expect("the lease");
            }
        }
    }

    /// Lets the leases of the dead run out; those on a server do so by themselves.
    pub(super) fn forget_the_dead(&self) {
        if let Some(clock) = &self.leases {
            clock.advance(TTL);
        }
    }

    /// Waits until everything was acknowledged.
    pub(super) async fn drained(&self) {
        let empty = async {
            while self.broker.backlog(STREAM, GROUP).await.expect("backlog") > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, empty).await.expect("it is drained");
    }

    pub(super) async fn end(mut self) {
        self.stop.cancel();
        while self.relay.join_next().await.is_some() {}
    }
}

/// The tasks of a process.
pub(super) struct Process {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Process {
    /// Lets it leave in order.
    pub(super) async fn stop(mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("it ends");
    }

    /// Ends it as a crash does.
    pub(super) async fn kill(mut self) {
        self.tasks.shutdown().await;
    }
}
