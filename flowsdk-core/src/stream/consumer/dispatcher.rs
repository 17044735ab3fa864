//! Owns the lanes and runs the batches.

use std::collections::{HashMap, VecDeque};
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
    /// Taken from their lanes, to run one by one: what failed before, so that it cannot fail its neighbours again,
    /// and what cannot be read.
    alone: VecDeque<TaskOf<H>>,
    batch_was_last: bool,
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
            alone: VecDeque::new(),
            batch_was_last: false,
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

    /// Starts as much as may run at once: by turns a batch and what runs alone, so that neither waits for the end
    /// of the other.
    fn start_batches(&mut self) {
        while self.running.len() < self.config.parallel {
            let is_gathered = self.lanes.ready() > 0 && !self.gathering();
            if is_gathered && (self.alone.is_empty() || !self.batch_was_last) {
                self.batch_was_last = true;
                self.start_batch();
            } else if let Some(task) = self.alone.pop_front() {
                self.batch_was_last = false;
                self.start_alone(task);
            } else {
                return;
            }
        }
    }

    fn start_batch(&mut self) {
        let mut batch = Vec::new();
        for (key, task) in self.lanes.take(self.config.max_batch) {
            match task {
                task if task.is_foreign() => self.lanes.finished(&key),
                Task::Event(work) if work.attempts() == 0 => batch.push(work),
                task => self.alone.push_back(task),
            }
        }
        self.last = batch.len();
        self.gathered_at = Instant::now() + self.config.gather;
        if !batch.is_empty() {
            self.spawn(batch);
        }
    }

    fn start_alone(&mut self, task: TaskOf<H>) {
        // It may have waited here for long.
        if task.is_foreign() {
            self.lanes.finished(task.key());
            return;
        }
        match task {
            Task::Event(work) => self.spawn(vec![work]),
            Task::Unreadable(unreadable) => self.spawn_unreadable(unreadable),
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use async_trait::async_trait;
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
    use tokio_util::task::TaskTracker;

    use super::super::Origin;
    use super::*;
    use crate::stream::broker::Entry;
    use crate::stream::topic::TopicName;
    use crate::time::ManualClock;

    /// What becomes of an entry.
    #[derive(Debug, Clone, Copy)]
    struct Fate {
        key: u8,
        is_readable: bool,
        /// Failures before it is done.
        failures: u32,
        transient: bool,
    }

    /// Counts what runs at once.
    #[derive(Default)]
    struct Counter {
        running: AtomicUsize,
        most: AtomicUsize,
        /// Batches in which what failed before had neighbours.
        mixed: AtomicUsize,
        refused: Mutex<HashMap<String, u32>>,
        done: Mutex<HashMap<String, Vec<usize>>>,
    }

    impl Counter {
        async fn run(&self) {
            let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(running, Ordering::Relaxed);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            self.running.fetch_sub(1, Ordering::Relaxed);
        }

        fn done(&self, key: &str, number: usize) {
            self.done.lock().expect("a lock").entry(key.to_owned()).or_default().push(number);
        }
    }

    #[async_trait]
    impl BatchHandler for Counter {
        type Event = (usize, Fate);
        type Output = ();

        fn parse(&self, _: TopicName, _: &Entry) -> Result<(usize, Fate), String> {
            Err("nothing is parsed here".to_owned())
        }

        async fn handle(&self, batch: &[Arc<Work<(usize, Fate), ()>>]) -> Vec<Verdict<()>> {
            self.run().await;
            if batch.len() > 1 && batch.iter().any(|work| work.attempts() > 0) {
                self.mixed.fetch_add(1, Ordering::Relaxed);
            }
            let verdict = |work: &Arc<Work<(usize, Fate), ()>>| {
                let (number, fate) = *work.event();
                if work.attempts() < fate.failures {
                    return Verdict::Retry { transient: fate.transient, reason: "on purpose".to_owned() };
                }
                self.done(work.key(), number);
                Verdict::Done(())
            };
            batch.iter().map(verdict).collect()
        }

        async fn poison(&self, _: &str, _: &(usize, Fate), _: &str) -> Result<(), String> {
            Err("nothing is poison".to_owned())
        }

        async fn unreadable(&self, _: TopicName, entry: &Entry, failures: &str) -> Result<(), String> {
            self.run().await;
            let mut refused = self.refused.lock().expect("a lock");
            let refused = refused.entry(entry.id.clone()).or_default();
            if *refused < failures.parse().expect("a number") {
                *refused += 1;
                return Err("on purpose".to_owned());
            }
            self.done(&entry.key, entry.id.parse().expect("a number"));
            Ok(())
        }
    }

    fn task(number: usize, fate: Fate) -> TaskOf<Counter> {
        let key = format!("k{}", fate.key);
        if fate.is_readable {
            return Task::Event(Arc::new(Work::new(key, (number, fate), None, None)));
        }
        let entry = Entry { id: number.to_string(), key, payload: String::new() };
        let origin = Origin {
            stream: StreamPartition { topic: TopicName::Flow, index: 0 },
            group: "test",
            id: entry.id.clone(),
            alive: CancellationToken::new(),
            _in_flight: TaskTracker::new().token(),
        };
        Task::Unreadable(Box::new(Unreadable {
            entry,
            reason: fate.failures.to_string(),
            origin,
            attempts: 0,
        }))
    }

    fn fates() -> impl Strategy<Value = Vec<Fate>> {
        let fate =
            (0..40_u8, 0..8_u8, 0..4_u32, any::<bool>()).prop_map(|(key, kind, failures, transient)| Fate {
                key,
                is_readable: kind > 0,
                failures,
                transient,
            });
        proptest::collection::vec(fate, 0..200)
    }

    proptest! {
        /// No more batches at once than allowed, whatever fails; nothing is lost, and each key keeps its order.
        #[test]
        fn what_fails_runs_alone_and_within_the_limit(
            fates in fates(),
            parallel in 1..5_usize,
            max_batch in 1..64_usize,
        ) {
            let counter = Arc::new(Counter::default());
            let config = ConsumerConfig {
                parallel,
                max_batch,
                max_attempts: 5,
                backoff: Duration::ZERO,
                ..ConsumerConfig::named("test")
            };
            let clock = Arc::new(ManualClock::at(0));
            let (dispatcher, submitter) = Dispatcher::new(Arc::clone(&counter), None, clock, config);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            runtime.expect("a runtime").block_on(async {
                let handing_in = async {
                    for (number, fate) in fates.iter().enumerate() {
                        assert!(submitter.inbox().send(task(number, *fate)).await.is_ok());
                    }
                    drop(submitter);
                };
                tokio::join!(dispatcher.run(CancellationToken::new()), handing_in);
            });
            prop_assert!(counter.most.load(Ordering::Relaxed) <= parallel);
            prop_assert_eq!(counter.mixed.load(Ordering::Relaxed), 0);
            let mut expected: HashMap<String, Vec<usize>> = HashMap::new();
            for (number, fate) in fates.iter().enumerate() {
                expected.entry(format!("k{}", fate.key)).or_default().push(number);
            }
            prop_assert_eq!(&*counter.done.lock().expect("a lock"), &expected);
        }
    }
}
