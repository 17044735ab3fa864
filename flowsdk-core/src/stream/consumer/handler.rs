//! The port of handlers that take many keys at once, and the verdicts of all handlers.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::Work;
use crate::fault::{Chain, StorageError};
use crate::stream::broker::{Entry, NewEntry};
use crate::stream::lanes::Turn;
use crate::stream::topic::TopicName;

/// The result of handling a piece of work.
#[derive(Debug)]
pub enum Verdict<R> {
    /// Its effects are durable.
    Done(R),
    /// It was cancelled, and left no effect. An entry that preempted it decides whether it runs again; work that was
    /// cancelled because its partition is lost belongs to the next owner.
    Dropped,
    /// It takes long, and has left no effect yet. It is handled again in a call of its own, [aside](Work::is_aside)
    /// from the batches.
    Aside,
    /// It could not be handled now.
    Retry {
        /// Whether the reason lies outside the event, so that it is tried without limit.
        transient: bool,
        /// The pause before the next attempt, up to [`ConsumerConfig::longest_pause`](super::ConsumerConfig); `None`
        /// means the consumer's own, which grows. Only the lane of the work waits.
        after: Option<Duration>,
        /// The reason, for logs and dead letters.
        reason: String,
    },
}

impl<R> Verdict<R> {
    /// It is tried again, without limit: the reason lies outside the event.
    pub fn transient(reason: impl Into<String>) -> Self {
        Self::Retry { transient: true, after: None, reason: reason.into() }
    }

    /// It is tried again, up to [`ConsumerConfig::max_attempts`](super::ConsumerConfig) times.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Retry { transient: false, after: None, reason: reason.into() }
    }

    /// It is tried again after this time, without limit: a provider named the time, or nobody is there yet.
    pub fn later(after: Duration, reason: impl Into<String>) -> Self {
        Self::Retry { transient: true, after: Some(after), reason: reason.into() }
    }
}

impl Verdict<()> {
    /// Returns the verdicts of a batch of `count` that was written as a whole.
    pub fn of_write(count: usize, written: &Result<(), StorageError>) -> Vec<Self> {
        let verdict = || match written {
            Ok(()) => Self::Done(()),
            Err(error) => {
                Self::Retry { transient: error.is_transient(), after: None, reason: Chain(error).to_string() }
            }
        };
        std::iter::repeat_with(verdict).take(count).collect()
    }
}

/// Where the record of a failed event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetAside {
    /// The handler has recorded the event where its own domain looks for it.
    Recorded,
    /// The consumer stores it as a dead letter.
    DeadLetter,
}

/// Handles events in batches of different keys.
#[async_trait]
pub trait BatchHandler: Send + Sync + 'static {
    /// The event that a batch holds.
    type Event: Send + Sync + Debug + 'static;
    /// The answer to a [`Submitter`](super::Submitter).
    type Output: Send + 'static;

    /// Reads an entry.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn parse(&self, topic: TopicName, entry: &Entry) -> Result<Self::Event, String>;

    /// Handles a batch, no two pieces of one key; one verdict per piece, in order. It is called again
    /// with the same event after a crash or a `Retry`: its effects must be those of one call.
    async fn handle(&self, batch: &[Work<Self::Event, Self::Output>]) -> Vec<Verdict<Self::Output>>;

    /// Returns how an event takes its turn.
    fn turn(&self, _event: &Self::Event) -> Turn {
        Turn::default()
    }

    /// Returns the processor time that a piece took beyond what every piece takes, by the handler's own count.
    fn cost(&self, _output: &Self::Output) -> Duration {
        Duration::ZERO
    }

    /// Returns whether each piece of work is a call of its own, which ends when it is done, and can be cancelled.
    fn one_by_one(&self) -> bool {
        false
    }

    /// Returns whether this event is handled in a call of its own, so that others do not wait for its end.
    fn runs_alone(&self, _event: &Self::Event) -> bool {
        false
    }

    /// Returns the event as it would be published, for the dead letter of an event that was submitted.
    fn entry(&self, _event: &Self::Event) -> Option<NewEntry> {
        None
    }

    /// Is told of an event that failed for good, and may record it. The event is acknowledged when it is recorded.
    ///
    /// # Errors
    /// A reason when it could not be recorded; it is tried again.
    async fn poison(&self, _key: &str, _event: &Self::Event, _reason: &str) -> Result<SetAside, String> {
        Ok(SetAside::DeadLetter)
    }

    /// Is told of an entry that cannot be read, in its turn among those of its key, and may record it. The entry is
    /// acknowledged when it is recorded.
    ///
    /// # Errors
    /// A reason when it could not be recorded; it is tried again, and its key waits.
    async fn unreadable(&self, _topic: TopicName, _entry: &Entry, _reason: &str) -> Result<SetAside, String> {
        Ok(SetAside::DeadLetter)
    }
}
