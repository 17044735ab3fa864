//! Work on its way through the consumer.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{BatchHandler, SubmitError};
use crate::stream::broker::Entry;
use crate::stream::lanes::{Run, Turn};
use crate::stream::topic::StreamPartition;
use crate::time::Timestamp;

/// One time that a worker owns a partition.
#[derive(Debug)]
pub(super) struct Ownership {
    /// Cancelled when the partition is lost: work that has not begun must not begin.
    pub(super) alive: CancellationToken,
    /// Cancelled when the partition is left: work that waits for a moment is not waited for.
    pub(super) reading: CancellationToken,
    /// Cancelled when leaving takes too long: work that has not begun is left to the next owner.
    pub(super) beginning: CancellationToken,
}

impl Ownership {
    fn is_lost(&self) -> bool {
        self.alive.is_cancelled()
    }

    /// Returns whether work that has not begun belongs to the next owner.
    pub(super) fn is_over(&self) -> bool {
        self.beginning.is_cancelled() || self.is_lost()
    }

    /// Returns whether the partition is lost, or being left in order.
    pub(super) fn is_left(&self) -> bool {
        self.reading.is_cancelled() || self.is_lost()
    }

    /// Waits until it is lost or left.
    pub(super) async fn left(&self) {
        tokio::select! {
            () = self.reading.cancelled() => {}
            () = self.alive.cancelled() => {}
        }
    }
}

/// Where an entry came from.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) stream: StreamPartition,
    pub(super) group: &'static str,
    pub(super) id: String,
    pub(super) ownership: Arc<Ownership>,
    pub(super) _in_flight: TaskTrackerToken,
}

/// An event with the consumer's knowledge of it.
#[derive(Debug)]
pub(super) struct Item<E, R> {
    pub(super) key: String,
    pub(super) event: E,
    /// The event as it was published; empty for a submitted one.
    pub(super) payload: String,
    pub(super) origin: Option<Origin>,
    pub(super) reply: Option<oneshot::Sender<Result<R, SubmitError>>>,
    /// The share of a class below the first.
    pub(super) _permit: Option<OwnedSemaphorePermit>,
    /// Failures of any kind.
    pub(super) attempts: u32,
    /// Those that were not transient.
    pub(super) faults: u32,
    /// The time of the first failure.
    pub(super) failed_at: Option<Timestamp>,
}

impl<E, R> Item<E, R> {
    pub(super) fn new(key: String, event: E) -> Self {
        Self {
            key,
            event,
            payload: String::new(),
            origin: None,
            reply: None,
            _permit: None,
            attempts: 0,
            faults: 0,
            failed_at: None,
        }
    }

    pub(super) fn answer(&mut self, result: Result<R, SubmitError>) {
        if let Some(reply) = self.reply.take() {
            // A submitter that has gone away does not want the answer.
            drop(reply.send(result));
        }
    }
}

/// An entry that cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) entry: Entry,
    pub(super) reason: String,
    pub(super) origin: Origin,
    /// How often it could not be recorded.
    pub(super) attempts: u32,
    pub(super) failed_at: Option<Timestamp>,
}

/// An entry in a lane.
#[derive(Debug)]
pub(super) enum Task<E, R> {
    Event(Box<Item<E, R>>),
    Unreadable(Box<Unreadable>),
}

impl<E, R> Task<E, R> {
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Event(item) => &item.key,
            Self::Unreadable(unreadable) => &unreadable.entry.key,
        }
    }

    pub(super) fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Event(item) => item.origin.as_ref(),
            Self::Unreadable(unreadable) => Some(&unreadable.origin),
        }
    }

    /// Returns whether it belongs to the next owner of its partition, so that it must not begin.
    pub(super) fn is_over(&self) -> bool {
        self.origin().is_some_and(|origin| origin.ownership.is_over())
    }

    /// Returns whether its partition is lost or left, so that it is not waited for.
    pub(super) fn is_left(&self) -> bool {
        self.origin().is_some_and(|origin| origin.ownership.is_left())
    }
}

pub(super) type TaskOf<H> = Task<<H as BatchHandler>::Event, <H as BatchHandler>::Output>;
pub(super) type WorkOf<H> = Work<<H as BatchHandler>::Event, <H as BatchHandler>::Output>;
pub(super) type RunOf<H> = Run<TaskOf<H>>;

/// A piece of work: one event, or several of one key that run together.
#[derive(Debug)]
pub struct Work<E, R> {
    turn: Turn,
    pub(super) first: Box<Item<E, R>>,
    pub(super) rest: Vec<Task<E, R>>,
    pub(super) superseded: Option<Box<Run<Task<E, R>>>>,
    pub(super) cancel: Option<CancellationToken>,
    pub(super) is_aside: bool,
}

impl<E, R> Work<E, R> {
    /// Work that a handler can be called with outside a consumer.
    pub fn detached(key: impl Into<String>, event: E) -> Self {
        let first = Box::new(Item::new(key.into(), event));
        let turn = Turn::default();
        Self { turn, first, rest: Vec::new(), superseded: None, cancel: None, is_aside: false }
    }

    /// Returns the piece of work that `run` is.
    ///
    /// # Errors
    /// Returns an entry that cannot be read; it is always a piece of its own.
    pub(super) fn of(run: Run<Task<E, R>>) -> Result<Self, Box<Unreadable>> {
        let Run { turn, first, rest, superseded } = run;
        match first {
            Task::Event(first) => Ok(Self { turn, first, rest, superseded, cancel: None, is_aside: false }),
            Task::Unreadable(unreadable) => Err(unreadable),
        }
    }

    pub(super) fn into_run(self) -> Run<Task<E, R>> {
        Run { turn: self.turn, first: Task::Event(self.first), rest: self.rest, superseded: self.superseded }
    }

    /// Returns the key that keeps it in order.
    pub fn key(&self) -> &str {
        &self.first.key
    }

    /// Returns the oldest event.
    pub fn event(&self) -> &E {
        &self.first.event
    }

    /// Returns all events, in order.
    pub fn events(&self) -> impl Iterator<Item = &E> {
        let rest = self.rest.iter().filter_map(|task| match task {
            Task::Event(item) => Some(&item.event),
            Task::Unreadable(_) => None,
        });
        std::iter::once(self.event()).chain(rest)
    }

    /// Returns whether it runs alone and beside the batches, so that nobody else waits for its end.
    pub fn is_aside(&self) -> bool {
        self.is_aside
    }

    /// How often it was tried before, whatever the reasons.
    pub fn attempts(&self) -> u32 {
        self.first.attempts
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    pub(super) fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone().unwrap_or_default()
    }

    /// Returns the entries of the streams that are acknowledged when it is done.
    pub(super) fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.first.origin.iter().chain(self.rest.iter().filter_map(Task::origin))
    }

    /// Returns the entries of the work that it superseded.
    pub(super) fn superseded_origins(&self) -> impl Iterator<Item = &Origin> {
        let run = self.superseded.iter();
        run.flat_map(|run| std::iter::once(&run.first).chain(&run.rest)).filter_map(Task::origin)
    }
}
