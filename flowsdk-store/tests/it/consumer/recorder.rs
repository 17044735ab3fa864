//! Owners of a partition, and a handler that notes what it was given and fails as it is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::context::OpContext;
use flowsdk_core::id::Cuids;
use flowsdk_core::kv::{Keep, KeyValue};
use flowsdk_core::lease::{Leases, lease_key};
use flowsdk_core::stream::broker::{Broker, Entry};
use flowsdk_core::stream::consumer::{
    BatchHandler, ConsumerConfig, Dispatcher, PartitionWorker, SetAside, Subscription, Verdict, Work,
};
use flowsdk_core::stream::dead_letter::{DeadLetterSink, DeadLetters};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_core::time::{ManualClock, SystemClock};
use flowsdk_store::sql::{SqlBroker, SqlKeyValue, SqlStore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub(crate) const GROUP: &str = GROUPS[0];
pub(crate) const STREAM: StreamPartition = StreamPartition { topic: TopicName::Flow, index: 0 };
/// By the clock of the key-value store, which stands still; owners renew and ask in real time.
pub(crate) const TTL: Duration = Duration::from_millis(100);
/// Longer than anything takes that is going to happen.
const PATIENCE: Duration = Duration::from_secs(60);

type Plan = Box<dyn Fn(usize, usize) -> Option<bool> + Send + Sync>;

/// What was noted.
#[derive(Default)]
struct Notes {
    attempts: HashMap<usize, usize>,
    done: Vec<usize>,
    poisoned: Vec<usize>,
    unreadable: usize,
    refused: usize,
    /// What was done, and the payloads of what could not be read, in one order.
    order: Vec<String>,
}

/// Fails where its plan says so for a number and an attempt: `Some(transient)`.
pub(crate) struct Recorder {
    plan: Plan,
    /// How often it refuses to record what cannot be read.
    refusals: usize,
    notes: Mutex<Notes>,
    progress: tokio::sync::Notify,
}

impl Recorder {
    pub(crate) fn failing(plan: impl Fn(usize, usize) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self {
            plan: Box::new(plan),
            refusals: 0,
            notes: Mutex::default(),
            progress: tokio::sync::Notify::new(),
        }
    }

    /// The same, which at first refuses to record what cannot be read.
    pub(crate) fn refusing(self, refusals: usize) -> Self {
        Self { refusals, ..self }
    }

    fn notes<R>(&self, look: impl FnOnce(&mut Notes) -> R) -> R {
        look(&mut self.notes.lock().expect("a lock"))
    }

    /// What was done, in order.
    pub(crate) fn done(&self) -> Vec<usize> {
        self.notes(|notes| notes.done.clone())
    }

    pub(crate) fn times(&self) -> usize {
        self.notes(|notes| notes.done.len())
    }

    pub(crate) fn poisoned(&self) -> Vec<usize> {
        let mut poisoned = self.notes(|notes| notes.poisoned.clone());
        poisoned.sort_unstable();
        poisoned
    }

    /// What was done and what was recorded as unreadable, in order.
    pub(crate) fn order(&self) -> Vec<String> {
        self.notes(|notes| notes.order.clone())
    }

    pub(crate) fn unreadable(&self) -> usize {
        self.notes(|notes| notes.unreadable)
    }

    /// Waits until `count` numbers were done.
    pub(crate) async fn until(&self, count: usize) {
        let enough = async {
            loop {
                let told = self.progress.notified();
                if self.times() >= count {
                    return;
                }
                told.await;
            }
        };
        tokio::time::timeout(PATIENCE, enough).await.expect("it goes on");
    }

    /// What this one did and then `next`.
    pub(crate) fn continued_by(&self, next: &Self) -> Self {
        let both = Self::failing(|_, _| None);
        both.notes(|notes| notes.done = [self.done(), next.done()].concat());
        both
    }

    /// Asserts that all of `numbers` were done, and that the first times of each key are in order.
    pub(crate) fn assert_first_times(&self, numbers: &[usize]) {
        let mut first = Vec::new();
        let mut last: HashMap<usize, usize> = HashMap::new();
        for n in self.done() {
            if first.contains(&n) {
                continue;
            }
            first.push(n);
            let before = last.insert(n % super::KEYS, n);
            assert!(before < Some(n), "{n} after {before:?}");
        }
        first.sort_unstable();
        assert_eq!(first, numbers);
    }
}

#[async_trait]
impl BatchHandler for Recorder {
    type Event = usize;
    type Output = ();

    fn parse(&self, _: TopicName, entry: &Entry) -> Result<usize, String> {
        entry.payload.parse().map_err(|_| "no number".to_owned())
    }

    async fn handle(&self, batch: &[Work<usize, ()>]) -> Vec<Verdict<()>> {
        tokio::task::yield_now().await;
        let mut verdicts = Vec::new();
        let mut done = Vec::new();
        for work in batch {
            let n = *work.event();
            let attempt = self.notes(|notes| {
                let attempts = notes.attempts.entry(n).or_default();
                *attempts += 1;
                *attempts
            });
            verdicts.push(match (self.plan)(n, attempt) {
                Some(transient) => Verdict::Retry { transient, after: None, reason: "on purpose".to_owned() },
                None => {
                    done.push(n);
                    Verdict::Done(())
                }
            });
        }
        self.notes(|notes| {
            notes.order.extend(done.iter().map(usize::to_string));
            notes.done.extend(done);
        });
        self.progress.notify_waiters();
        verdicts
    }

    async fn poison(&self, _: &str, event: &usize, _: &str) -> Result<SetAside, String> {
        self.notes(|notes| notes.poisoned.push(*event));
        Ok(SetAside::Recorded)
    }

    async fn unreadable(&self, _: TopicName, entry: &Entry, _: &str) -> Result<SetAside, String> {
        self.notes(|notes| {
            if notes.refused < self.refusals {
                notes.refused += 1;
                return Err("on purpose".to_owned());
            }
            notes.unreadable += 1;
            notes.order.push(entry.payload.clone());
            Ok(SetAside::Recorded)
        })
    }
}

/// A database with streams and leases, whose owners come and go.
pub(crate) struct Site {
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) kv: Arc<dyn KeyValue>,
    dead_letters: Arc<dyn DeadLetterSink>,
    pub(crate) clock: ManualClock,
}

impl Site {
    pub(crate) fn new(store: SqlStore) -> Self {
        let clock = ManualClock::at(1_795_085_820_050);
        let kv = Arc::new(SqlKeyValue::new(store.clone(), Arc::new(clock.clone())));
        let cx = OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock.clone())));
        let dead_letters = Arc::new(DeadLetters::new(Arc::new(store.clone()), cx));
        Self { broker: Arc::new(SqlBroker::new(store)), kv, dead_letters, clock }
    }

    /// Returns whether `name` can have the partition now.
    pub(crate) async fn is_free_for(&self, name: &str) -> bool {
        let lease = lease_key(&format!("{GROUP}:{}", STREAM.index));
        let keep = Keep { key: lease.as_str(), take: true };
        self.kv.keep(&[keep], name, TTL).await.expect("asked") == [true]
    }

    /// A process that asks for the partition.
    pub(crate) fn owner(&self, name: &str, recorder: &Arc<Recorder>) -> Owner {
        let config = ConsumerConfig {
            max_attempts: 6,
            max_batch: 5,
            parallel: 2,
            capacity: 64,
            backoff: Duration::from_millis(1),
            ..ConsumerConfig::named("test")
        };
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::clone(recorder),
            Some(Arc::clone(&self.broker)),
            Arc::clone(&self.dead_letters),
            Arc::new(SystemClock),
            config,
        );
        let subscription = Subscription { topics: &[TopicName::Flow], group: GROUP, index: STREAM.index };
        let (broker, leases) = (Arc::clone(&self.broker), Leases::new(Arc::clone(&self.kv), name, TTL));
        let worker = PartitionWorker::new(Arc::clone(recorder), broker, leases, submitter, subscription);
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(worker.run(stop.clone()));
        tasks.spawn(dispatcher.run(tokio_util::sync::CancellationToken::new()));
        Owner { stop, tasks }
    }

    /// Waits until everything was acknowledged.
    pub(crate) async fn drained(&self) {
        let empty = async {
            while self.broker.backlog(STREAM, GROUP).await.expect("backlog") > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, empty).await.expect("it is drained");
    }
}

/// The tasks of a process.
pub(crate) struct Owner {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Owner {
    /// Lets it finish what it has.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("it ends");
    }

    /// Ends it as a crash does.
    pub(crate) async fn kill(mut self) {
        self.tasks.shutdown().await;
    }
}
