//! Owns the lanes and runs the batches.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    BatchHandler, ConsumerConfig, Inbox, SubmitError, Submitter, Task, TaskOf, Unreadable, Verdict, Work,
};
use crate::stream::broker::Broker;
use crate::stream::lanes::Lanes;
use crate::stream::topic::StreamPartition;
use crate::time::Clock;

type WorkOf<H> = Arc<Work<<H as BatchHandler>::Event, <H as BatchHandler>::Output>>;

/// How one piece of a batch ended.
enum Ended {
    Finished,
    Again,
}

/// Decides what runs.
pub struct Dispatcher<H: BatchHandler> {
    handler: Arc<H>,
    broker: Option<Arc<dyn Broker>>,
    clock: Arc<dyn Clock>,
    config: ConsumerConfig,
    inbox: mpsc::Receiver<TaskOf<H>>,
    lanes: Lanes<TaskOf<H>>,
    running: JoinSet<Vec<(TaskOf<H>, Ended)>>,
    /// Size of the batch before, and when the next may begin whatever its size.
    last: usize,
    gathered_at: Instant,
}

impl<H: BatchHandler> Dispatcher<H> {
    /// A dispatcher, and the way into it. `broker` acknowledges what came from streams.
    pub fn new(
        handler: Arc<H>,
        broker: Option<Arc<dyn Broker>>,
        clock: Arc<dyn Clock>,
        config: ConsumerConfig,
    ) -> (Self, Submitter<H>) {
        let (sender, inbox) = mpsc::channel(config.max_batch.max(1) * 2);
        let lanes = Lanes::new(config.capacity);
        let this = Self {
            handler,
            broker,
            clock,
            config,
            inbox,
            lanes,
            running: JoinSet::new(),
            last: 0,
            gathered_at: Instant::now(),
        };
        (this, Submitter { inbox: sender })
    }

    /// Runs until `stop`, or until every [`Submitter`] is gone; then finishes what was handed in.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut open = true;
        let mut wake = None;
        loop {
            self.start_batches();
            if !open && self.lanes.is_empty() && self.running.is_empty() {
                return;
            }
            let pause = wake.map(|at: crate::time::Timestamp| at.since(self.clock.now()));
            let gathering = self.gathering();
            tokio::select! {
                Some(ended) = self.running.join_next(), if !self.running.is_empty() => match ended {
                    Ok(batch) => self.settle(batch),
                    // Panics are caught inside; a batch is never aborted.
                    Err(error) => tracing::error!(consumer = self.config.name, %error, "a batch was lost"),
                },
                task = self.inbox.recv(), if open && self.lanes.room() > 0 => match task {
                    Some(task) => self.admit(task),
                    None => open = false,
                },
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                () = tokio::time::sleep_until(self.gathered_at), if gathering => {}
                // What is in the inbox already is still taken; nothing more gets in.
                () = stop.cancelled(), if !self.inbox.is_closed() => self.inbox.close(),
            }
            wake = self.lanes.release(self.clock.now());
        }
    }

    /// Takes `first` and whatever else is there already, so that a batch can be as large as the load.
    fn admit(&mut self, first: TaskOf<H>) {
        let mut next = Some(first);
        while let Some(task) = next {
            let key = task.key().to_owned();
            if self.lanes.offer(&key, task).is_err() {
                tracing::error!(consumer = self.config.name, key, "offered work beyond the room there is");
                return;
            }
            next = if self.lanes.room() > 0 { self.inbox.try_recv().ok() } else { None };
        }
        self.gauge();
    }

    fn start_batches(&mut self) {
        while self.running.len() < self.config.parallel && self.lanes.ready() > 0 && !self.gathering() {
            self.last = self.lanes.ready().min(self.config.max_batch);
            self.gathered_at = Instant::now() + self.config.gather;
            let mut batch = Vec::new();
            for (key, task) in self.lanes.take(self.config.max_batch) {
                if task.origin().is_some_and(|origin| origin.alive.is_cancelled()) {
                    self.lanes.finished(&key);
                    continue;
                }
                match task {
                    Task::Unreadable(unreadable) => self.spawn_unreadable(unreadable),
                    // What failed before runs alone, so that it cannot fail its neighbours again.
                    Task::Event(work) if work.attempts() > 0 => self.spawn(vec![work]),
                    Task::Event(work) => batch.push(work),
                }
            }
            if !batch.is_empty() {
                self.spawn(batch);
            }
        }
    }

    /// Whether what is ready waits for more.
    fn gathering(&self) -> bool {
        let few = self.lanes.ready() < self.last;
        few && self.lanes.ready() > 0 && self.running.is_empty() && Instant::now() < self.gathered_at
    }

    fn spawn(&mut self, batch: Vec<WorkOf<H>>) {
        let (handler, broker) = (Arc::clone(&self.handler), self.broker.clone());
        let config = self.config.clone();
        self.running.spawn(async move { run_batch(&*handler, broker, &config, batch).await });
    }

    fn spawn_unreadable(&mut self, unreadable: Box<Unreadable>) {
        let (handler, broker) = (Arc::clone(&self.handler), self.broker.clone());
        let config = self.config.clone();
        self.running.spawn(async move { record(&*handler, broker, &config, unreadable).await });
    }

    fn settle(&mut self, batch: Vec<(TaskOf<H>, Ended)>) {
        self.gathered_at = Instant::now() + self.config.gather;
        for (task, ended) in batch {
            let key = task.key().to_owned();
            match ended {
                Ended::Finished => self.lanes.finished(&key),
                Ended::Again => {
                    let at = self.clock.now() + self.config.pause(task.attempts());
                    self.lanes.postpone(&key, task, at);
                }
            }
        }
        self.gauge();
    }

    fn gauge(&self) {
        metrics::gauge!("flowsdk_consumer_held", "consumer" => self.config.name).set(self.lanes.len() as f64);
    }
}

async fn run_batch<H: BatchHandler>(
    handler: &H,
    broker: Option<Arc<dyn Broker>>,
    config: &ConsumerConfig,
    batch: Vec<WorkOf<H>>,
) -> Vec<(TaskOf<H>, Ended)> {
    metrics::histogram!("flowsdk_consumer_batch", "consumer" => config.name).record(batch.len() as f64);
    let verdicts = match AssertUnwindSafe(handler.handle(&batch)).catch_unwind().await {
        Ok(verdicts) if verdicts.len() == batch.len() => verdicts,
        Ok(_) => retry_all(batch.len(), "the handler answered for another number of events"),
        Err(_) => retry_all(batch.len(), "the handler panicked"),
    };
    let mut ended = Vec::with_capacity(batch.len());
    for (work, verdict) in batch.into_iter().zip(verdicts) {
        let end = match verdict {
            Verdict::Done(output) => {
                work.answer(Ok(output));
                Ended::Finished
            }
            Verdict::Retry { transient, reason } => failed(handler, config, &work, transient, &reason).await,
        };
        ended.push((Task::Event(work), end));
    }
    if let Some(broker) = broker {
        acknowledge(&*broker, config, &ended).await;
    }
    ended
}

/// Has an unreadable entry recorded.
async fn record<H: BatchHandler>(
    handler: &H,
    broker: Option<Arc<dyn Broker>>,
    config: &ConsumerConfig,
    mut unreadable: Box<Unreadable>,
) -> Vec<(TaskOf<H>, Ended)> {
    let Unreadable { entry, reason, origin, .. } = &*unreadable;
    let recorded = handler.unreadable(origin.stream.topic, entry, reason);
    let recorded = AssertUnwindSafe(recorded).catch_unwind().await;
    let end = match recorded.unwrap_or_else(|_| Err("the handler panicked".to_owned())) {
        Ok(()) => Ended::Finished,
        Err(error) => {
            metrics::counter!("flowsdk_consumer_failures", "consumer" => config.name).increment(1);
            tracing::error!(
                consumer = config.name,
                entry = entry.id,
                error,
                "an unreadable entry could not be set aside"
            );
            unreadable.attempts += 1;
            Ended::Again
        }
    };
    let ended = vec![(Task::Unreadable(unreadable), end)];
    if let Some(broker) = broker {
        acknowledge(&*broker, config, &ended).await;
    }
    ended
}

fn retry_all<R>(len: usize, reason: &str) -> Vec<Verdict<R>> {
    (0..len).map(|_| Verdict::Retry { transient: false, reason: reason.to_owned() }).collect()
}

async fn failed<H: BatchHandler>(
    handler: &H,
    config: &ConsumerConfig,
    work: &WorkOf<H>,
    transient: bool,
    reason: &str,
) -> Ended {
    let attempts = work.attempts.fetch_add(1, Ordering::Relaxed) + 1;
    metrics::counter!("flowsdk_consumer_failures", "consumer" => config.name).increment(1);
    tracing::warn!(consumer = config.name, key = work.key, attempts, transient, reason, "an event failed");
    if transient {
        if work.origin.is_some() || attempts < config.max_attempts {
            return Ended::Again;
        }
        work.answer(Err(SubmitError::Unavailable));
        return Ended::Finished;
    }
    // Counted apart, so that an outage does not use up what an event has.
    if work.faults.fetch_add(1, Ordering::Relaxed) + 1 < config.max_attempts {
        return Ended::Again;
    }
    match handler.poison(&work.key, &work.event, reason).await {
        Ok(()) => {
            work.answer(Err(SubmitError::SetAside));
            Ended::Finished
        }
        Err(error) => {
            tracing::error!(consumer = config.name, key = work.key, error, "poison could not be recorded");
            Ended::Again
        }
    }
}

/// Acknowledges what is finished, one call a partition. What cannot be acknowledged now is given again
/// to the next owner, and handled as a repetition.
async fn acknowledge<E, R>(broker: &dyn Broker, config: &ConsumerConfig, ended: &[(Task<E, R>, Ended)]) {
    let mut ids: HashMap<(StreamPartition, &'static str), Vec<String>> = HashMap::new();
    for (task, end) in ended {
        if let (Some(origin), Ended::Finished) = (task.origin(), end) {
            ids.entry((origin.stream, origin.group)).or_default().push(origin.id.clone());
        }
    }
    for ((stream, group), ids) in ids {
        if let Err(error) = broker.ack(stream, group, &ids).await {
            tracing::warn!(consumer = config.name, %error, entries = ids.len(), "entries stay unacknowledged");
        }
    }
}

impl<H: BatchHandler> Submitter<H> {
    /// The channel itself, for partition workers.
    pub(super) fn inbox(&self) -> &Inbox<H> {
        &self.inbox
    }
}
