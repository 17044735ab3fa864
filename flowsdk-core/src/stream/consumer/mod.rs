//! The consumer: reads partitions under a lease, keeps each key in order and runs batches of
//! different keys together.
//!
//! Three parts, each a task with an end: a [`partition::PartitionWorker`] holds the lease of a
//! partition and reads it; the [`dispatcher::Dispatcher`] owns the [`Lanes`](super::lanes::Lanes)
//! and is the only one to decide what runs; batches run beside it. Work also comes from inside the
//! process through a [`Submitter`], into the same lanes.
//!
//! Delivery is at least once: an entry is acknowledged after [`BatchHandler::handle`] said it is
//! done, that is, after its commit. A key that fails is tried again with growing pauses and holds
//! only itself; after [`ConsumerConfig::max_attempts`] failures that are not transient it is given
//! to [`BatchHandler::poison`]. An entry that cannot be read goes through the lane of its key too, to
//! [`BatchHandler::unreadable`].

mod dispatcher;
mod partition;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::broker::Entry;
use super::topic::{StreamPartition, TopicName};

pub use dispatcher::Dispatcher;
pub use partition::{PartitionWorker, Subscription};

/// How a consumer runs.
#[derive(Debug, Clone)]
pub struct ConsumerConfig {
    /// Name in logs and metrics.
    pub name: &'static str,
    /// Most entries held, waiting and running.
    pub capacity: usize,
    /// Most entries of one batch.
    pub max_batch: usize,
    /// Most batches at once, with what runs alone; 1 where the database has one writer.
    pub parallel: usize,
    /// How long a batch may wait to become as large as the one before: a commit costs the same for one
    /// entry and for a hundred. An entry that comes alone after another that came alone does not wait.
    pub gather: Duration,
    /// Failures after which an entry is poison.
    pub max_attempts: u32,
    /// Pause after the first failure; it doubles up to 64 times itself.
    pub backoff: Duration,
}

impl ConsumerConfig {
    /// The defaults for a consumer of that name.
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            capacity: 16_384,
            max_batch: 128,
            parallel: 1,
            gather: Duration::ZERO,
            max_attempts: 5,
            backoff: Duration::from_millis(100),
        }
    }

    /// The pause after `attempts` failures.
    fn pause(&self, attempts: u32) -> Duration {
        self.backoff.saturating_mul(1 << attempts.saturating_sub(1).min(6))
    }
}

/// What became of one event.
#[derive(Debug)]
pub enum Verdict<R> {
    /// Its effects are durable.
    Done(R),
    /// It could not be handled now.
    Retry {
        /// Whether the reason lies outside the event, so that it is tried without limit.
        transient: bool,
        /// The reason, for logs.
        reason: String,
    },
}

/// Handles events in batches of different keys.
#[async_trait]
pub trait BatchHandler: Send + Sync + 'static {
    /// An event.
    type Event: Send + Sync + Debug + 'static;
    /// What a [`Submitter`] is told.
    type Output: Send + 'static;

    /// Reads an entry.
    fn parse(&self, topic: TopicName, entry: &Entry) -> Result<Self::Event, String>;

    /// Handles a batch, no two events of one key; one verdict per event, in order. It is called again
    /// with the same event after a crash or a `Retry`: its effects must be those of one call.
    async fn handle(&self, batch: &[Arc<Work<Self::Event, Self::Output>>]) -> Vec<Verdict<Self::Output>>;

    /// Records an event that failed for good, so that it can be looked at and replayed. It is then
    /// acknowledged.
    ///
    /// # Errors
    /// A reason when it could not be recorded; it is tried again.
    async fn poison(&self, key: &str, event: &Self::Event, reason: &str) -> Result<(), String>;

    /// Records an entry that cannot be read, in its turn among those of its key. It is then acknowledged.
    ///
    /// # Errors
    /// A reason when it could not be recorded; it is tried again, and its key waits.
    async fn unreadable(&self, topic: TopicName, entry: &Entry, reason: &str) -> Result<(), String>;
}

/// Where an entry came from.
#[derive(Debug)]
struct Origin {
    stream: StreamPartition,
    group: &'static str,
    id: String,
    /// Cancelled when the partition is no longer ours: what has not begun must not begin.
    alive: CancellationToken,
    _in_flight: TaskTrackerToken,
}

/// An event on its way through the consumer.
#[derive(Debug)]
pub struct Work<E, R> {
    key: String,
    event: E,
    origin: Option<Origin>,
    reply: Mutex<Option<oneshot::Sender<Result<R, SubmitError>>>>,
    /// Failures of any kind.
    attempts: std::sync::atomic::AtomicU32,
    /// Those that were not transient.
    faults: std::sync::atomic::AtomicU32,
}

impl<E, R> Work<E, R> {
    /// Work that [`BatchHandler::handle`] can be called with outside a consumer.
    pub fn detached(key: impl Into<String>, event: E) -> Arc<Self> {
        Arc::new(Self::new(key.into(), event, None, None))
    }

    fn new(
        key: String,
        event: E,
        origin: Option<Origin>,
        reply: Option<oneshot::Sender<Result<R, SubmitError>>>,
    ) -> Self {
        Self {
            key,
            event,
            origin,
            reply: Mutex::new(reply),
            attempts: std::sync::atomic::AtomicU32::new(0),
            faults: std::sync::atomic::AtomicU32::new(0),
        }
    }

    /// What keeps it in order.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The event.
    pub fn event(&self) -> &E {
        &self.event
    }

    fn attempts(&self) -> u32 {
        self.attempts.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn answer(&self, result: Result<R, SubmitError>) {
        let reply = self.reply.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(reply) = reply {
            // A submitter that has gone away does not want the answer.
            drop(reply.send(result));
        }
    }
}

/// An entry on its way to [`BatchHandler::unreadable`].
#[derive(Debug)]
struct Unreadable {
    entry: Entry,
    reason: String,
    origin: Origin,
    /// How often it could not be recorded.
    attempts: u32,
}

/// What stands in a lane.
#[derive(Debug)]
enum Task<E, R> {
    Event(Arc<Work<E, R>>),
    Unreadable(Box<Unreadable>),
}

impl<E, R> Task<E, R> {
    fn key(&self) -> &str {
        match self {
            Self::Event(work) => work.key(),
            Self::Unreadable(unreadable) => &unreadable.entry.key,
        }
    }

    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Event(work) => work.origin.as_ref(),
            Self::Unreadable(unreadable) => Some(&unreadable.origin),
        }
    }

    /// Whether its partition is no longer ours, so that it must not begin.
    fn is_foreign(&self) -> bool {
        self.origin().is_some_and(|origin| origin.alive.is_cancelled())
    }

    fn attempts(&self) -> u32 {
        match self {
            Self::Event(work) => work.attempts(),
            Self::Unreadable(unreadable) => unreadable.attempts,
        }
    }
}

/// Why submitted work was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The consumer is stopping or cannot reach its storage; submit it again later.
    #[error("the consumer cannot take the event now")]
    Unavailable,
    /// The event failed for good and was recorded.
    #[error("the event failed and was set aside")]
    SetAside,
}

type TaskOf<H> = Task<<H as BatchHandler>::Event, <H as BatchHandler>::Output>;
type Inbox<H> = mpsc::Sender<TaskOf<H>>;

/// Gives events to a consumer of the same process.
#[derive(Debug)]
pub struct Submitter<H: BatchHandler> {
    inbox: Inbox<H>,
}

impl<H: BatchHandler> Clone for Submitter<H> {
    fn clone(&self) -> Self {
        Self { inbox: self.inbox.clone() }
    }
}

impl<H: BatchHandler> Submitter<H> {
    /// Hands over an event and waits until its effects are durable. Events of one key that are
    /// submitted one after the other (each after the answer, or in order from one task) run in that
    /// order.
    pub async fn submit(&self, key: impl Into<String>, event: H::Event) -> Result<H::Output, SubmitError> {
        self.enqueue(key, event).await?.await.map_err(|_| SubmitError::Unavailable)?
    }

    /// Hands over an event; the answer comes later. The order of enqueueing is the order of running.
    pub async fn enqueue(
        &self,
        key: impl Into<String>,
        event: H::Event,
    ) -> Result<oneshot::Receiver<Result<H::Output, SubmitError>>, SubmitError> {
        let (reply, answer) = oneshot::channel();
        let work = Arc::new(Work::new(key.into(), event, None, Some(reply)));
        self.inbox.send(Task::Event(work)).await.map_err(|_| SubmitError::Unavailable)?;
        Ok(answer)
    }
}
